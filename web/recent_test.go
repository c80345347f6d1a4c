package web

import (
	"sync"
	"testing"
	"time"
)

// Requests that come before anything was read wait for one reading, and do not read one after the other.
func TestRecentIsReadOnce(t *testing.T) {
	t.Parallel()
	var c recent[int]
	var waiting, done sync.WaitGroup
	reads := 0
	for range 20 {
		waiting.Add(1)
		done.Go(func() {
			waiting.Done()
			got, _ := c.get(time.Now, func(int) int {
				waiting.Wait()
				reads++
				return 7
			})
			if got != 7 {
				t.Error(got)
			}
		})
	}
	done.Wait()
	if reads != 1 {
		t.Errorf("%d readings", reads)
	}
}
