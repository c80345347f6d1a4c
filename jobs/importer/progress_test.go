package importer

import (
	"testing"
	"time"
)

// Progress is reported when a phase begins and when it is done, and in between at most four times a second.
func TestMeterPaces(t *testing.T) {
	t.Parallel()
	for _, phase := range []string{PhaseReading, PhaseWriting} {
		told := 0
		m := meter{tell: func(Progress) { told++ }}
		const total = 3_000_000
		began := time.Now()
		for done := range int64(total) {
			m.at(Progress{"f", phase, done + 1, total})
		}
		if most := 2 + int(time.Since(began)/tellEvery); told < 2 || told > most {
			t.Errorf("%s: told %d times, want 2 to %d", phase, told, most)
		}
	}
	// In a long phase, progress is reported repeatedly.
	told := 0
	m := meter{tell: func(Progress) { told++ }}
	for began := time.Now(); told < 3; m.at(Progress{"f", PhaseWriting, 1, 2}) {
		if time.Since(began) > time.Minute {
			t.Fatalf("told %d times in a minute", told)
		}
	}
}
