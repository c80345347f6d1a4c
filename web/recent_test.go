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
	const requests = 20
	waiting.Add(requests)
	for range requests {
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

// While something is read anew, others get what was read just before, but not what was read an hour ago.
func TestRecentIsNotLongAgo(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		age  time.Duration
		want string
	}{{stale, "old"}, {time.Hour, "new"}} {
		var r recent[string]
		began := time.Now()
		r.get(func() time.Time { return began }, func(string) string { return "old" })
		later := func() time.Time { return began.Add(c.age) }
		begun, release := make(chan struct{}), make(chan struct{})
		go r.get(later, func(string) string {
			close(begun)
			<-release
			return "new"
		})
		<-begun
		end := sync.OnceFunc(func() { close(release) })
		if c.want == "new" {
			time.AfterFunc(50*time.Millisecond, end)
		}
		if got, _ := r.get(later, func(string) string { return "read twice" }); got != c.want {
			t.Errorf("%s later: %q, want %q", c.age, got, c.want)
		}
		end()
	}
}
