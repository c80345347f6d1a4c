package main

import "testing"

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
