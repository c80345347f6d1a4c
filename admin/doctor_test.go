package admin

import (
	"testing"
	"time"
)

func TestJudgeDisk(t *testing.T) {
	t.Parallel()
	const mb, gb = 1 << 20, 1 << 30
	for _, c := range []struct {
		free, database uint64
		want           status
	}{
		{100 * gb, gb, statusOK}, {2 * gb, 100 * mb, statusOK}, {900 * mb, mb, statusWarning}, {3 * gb, 2 * gb, statusWarning},
		{63 * mb, 0, statusFailed}, {0, 0, statusFailed}, {gb, 20 * gb, statusFailed},
	} {
		f := judgeDisk("/var/lib/lottery", c.free, c.database)
		if f.Status != c.want || (f.Remedy == nil) != (c.want == statusOK) {
			t.Errorf("%d free, database of %d: %+v", c.free, c.database, f)
		}
	}
}

func TestJudgeTemp(t *testing.T) {
	t.Parallel()
	for free, want := range map[uint64]status{0: statusWarning, 255 << 20: statusWarning, 256 << 20: statusOK} {
		if f := judgeTemp("/tmp", free); f.Status != want || (f.Remedy == nil) != (want == statusOK) {
			t.Errorf("%d free: %+v", free, f)
		}
	}
}

func TestJudgeClocks(t *testing.T) {
	t.Parallel()
	for ahead, want := range map[time.Duration]status{
		0: statusOK, 59 * time.Second: statusOK, -59 * time.Second: statusOK, 61 * time.Second: statusFailed, -24 * time.Hour: statusFailed,
	} {
		if f := judgeClocks(map[string]time.Duration{"Redis": 0, "PostgreSQL": ahead}); f.Status != want {
			t.Errorf("%s ahead: %+v", ahead, f)
		}
	}
}
