package main

import (
	"testing"

	"lottery/models/store/storetest"
)

// The server sets its own pace of garbage collections, unless the operator has set one.
func TestPaceOfCollections(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		env []string
		set bool
	}{{nil, false}, {[]string{"GOGC=50"}, true}} {
		p := startWith(t, c.env, serveArgs(storetest.EmptyURL(t), "--ops-listen", "127.0.0.1:0")...)
		storetest.Until(t, "the pace", func() bool {
			percent := p.metrics(t)["go_gc_gogc_percent"]
			return (percent == 50) == c.set && percent > 0 && percent != 100 // Go's own
		})
	}
}

func TestGCPercent(t *testing.T) {
	t.Parallel()
	for heap, want := range map[[2]uint64]int{ // live, scanned
		{0, 0}:                800, // before the first collection nothing is known
		{1 << 20, 1 << 20}:    800,
		{8 << 20, 1 << 20}:    400,
		{32 << 20, 8 << 20}:   100,
		{64 << 20, 8 << 20}:   50,
		{128 << 20, 8 << 20}:  25,
		{128 << 20, 96 << 20}: 75, // as much as must be looked through
		{1 << 40, 1 << 20}:    25,
	} {
		if got := gcPercent(heap[0], heap[1]); got != want {
			t.Errorf("%d bytes alive, %d of them scanned: the heap grows by %d %%, want %d %%", heap[0], heap[1], got, want)
		}
	}
}
