package jobs

import (
	"testing"

	"lottery/models"
)

// A file may lose a tenth and no more, as the documents say.
func TestBoundOfShrinking(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		was, is int64
		refused bool
	}{{1000, 900, false}, {1000, 899, true}, {1000, 1001, false}, {10, 9, false}, {10, 8, true}, {0, 5, false}} {
		r := response{whole: true, size: c.is, unit: "bytes"}
		err := r.doubt(&models.FeedSource{Size: c.was}, 0, 0, SyncOptions{})
		if (err != nil) != c.refused {
			t.Errorf("from %d to %d: %v", c.was, c.is, err)
		}
	}
}

// A tenth of the draws may change, or twenty of them, whatever their number.
func TestBoundOfRewriting(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		held, changed int
		refused       bool
	}{{20, 20, false}, {100, 20, false}, {100, 21, true}, {210, 21, false}, {209, 21, true}, {1000, 100, false}, {1000, 101, true}, {0, 0, false}} {
		var r response
		if err := r.doubt(&models.FeedSource{}, c.held, c.changed, SyncOptions{}); (err != nil) != c.refused {
			t.Errorf("%d of %d: %v", c.changed, c.held, err)
		}
	}
}
