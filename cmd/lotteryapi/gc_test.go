package main

import "testing"

func TestGCPercent(t *testing.T) {
	t.Parallel()
	for live, want := range map[uint64]int{
		0:         800, // before the first collection nothing is known
		1 << 20:   800,
		8 << 20:   400,
		32 << 20:  100,
		64 << 20:  50,
		128 << 20: 25,
		1 << 40:   25,
	} {
		if got := gcPercent(live); got != want {
			t.Errorf("%d bytes alive: the heap grows by %d %%, want %d %%", live, got, want)
		}
	}
}
