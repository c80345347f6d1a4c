package store_test

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"lottery/models/store"
)

// An outage is logged when it begins and when it ends. Something that fails every now and then, 20 times a second, is
// logged as one that lasts until it works for good. The next one is logged anew.
func TestOutageIsLogged(t *testing.T) {
	t.Parallel()
	const tick = 50 * time.Millisecond
	for name, c := range map[string]struct {
		works string // by the second, one letter each: y = yes, n = no, s = sometimes
		want  string // what is logged, each with its second
		every time.Duration
	}{
		"never fails":                    {"yyyyyyyyyy", "", 0},
		"fails from the start":           {"nnnnn", "0 away", 0},
		"fails once":                     {"yynnnnyyyy", "2 away, 6 back", 0},
		"fails twice":                    {"ynny" + strings.Repeat("y", 10) + "nny", "1 away, 3 back, 14 away, 16 back", 0},
		"fails again soon":               {"ynnyynn" + strings.Repeat("y", 12) + "n", "1 away, 3 back, 5 away, 16 back, 19 away", 0},
		"fails sometimes":                {"y" + strings.Repeat("s", 60) + strings.Repeat("y", 12), "1 away, 1 back, 1 away, 70 back", 0},
		"fails sometimes, then entirely": {"y" + strings.Repeat("s", 30) + "nnnn" + strings.Repeat("y", 12), "1 away, 1 back, 1 away, 44 back", 0},
		"lasts":                          {"y" + strings.Repeat("n", 10) + "y", "1 away, 5 away, 9 away, 11 back", 4 * time.Second},
		"lasts, now and then":            {"y" + strings.Repeat("s", 9) + strings.Repeat("y", 12), "1 away, 1 back, 1 away, 5 away, 9 away, 19 back", 4 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				var said []string
				log := slog.New(slog.NewTextHandler(writer(func(line string) {
					what := map[bool]string{true: "away", false: "back"}[strings.Contains(line, "level=WARN msg=away error=gone")]
					said = append(said, fmt.Sprintf("%d %s", time.Since(began)/time.Second, what))
				}), nil))
				outage := store.Outage{Every: c.every}
				for _, second := range c.works {
					for i := range int(time.Second / tick) {
						var err error
						if second == 'n' || second == 's' && i%2 == 0 {
							err = errors.New("gone")
						}
						outage.Note(log, err, "away", "back")
						time.Sleep(tick)
					}
				}
				if got := strings.Join(said, ", "); got != c.want {
					t.Errorf("%s, want %s", got, c.want)
				}
			})
		})
	}
}

// writer calls itself with each line written to it.
type writer func(line string)

func (w writer) Write(b []byte) (int, error) {
	w(string(b))
	return len(b), nil
}
