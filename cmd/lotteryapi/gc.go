package main

import (
	"context"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

const (
	// gcStride is how much may be allocated between two garbage collections. Go's default, as much as is live, would
	// collect the few megabytes of a small catalog dozens of times a second.
	gcStride = 32 << 20
	// gcEvery is how often the pace is adjusted: the live heap changes with the catalog and the active accounts, by up
	// to 10 MB a second.
	gcEvery = time.Second
)

// paceGC lets the heap grow by gcStride between two collections, until ctx ends. It leaves GOGC alone if the operator
// set it.
func paceGC(ctx context.Context) {
	if os.Getenv("GOGC") != "" {
		return
	}
	tick := time.NewTicker(gcEvery)
	defer tick.Stop()
	heap := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/gc/scan/heap:bytes"}}
	for percent := 0; ; {
		metrics.Read(heap)
		if next := gcPercent(heap[0].Value.Uint64(), heap[1].Value.Uint64()); next > percent+percent/4 || next < percent-percent/4 {
			percent = next
			debug.SetGCPercent(percent)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// gcPercent returns the GOGC value that allows the largest of three amounts: gcStride, a quarter of the live heap, and
// the bytes that a collection scans, which are what it costs. Accounts are scanned, draws are not.
func gcPercent(live, scanned uint64) int {
	const least, most = 25, 800
	return int(min(max(max(gcStride, scanned)*100/max(live, 1), least), most))
}
