package main

import (
	"context"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

const (
	// gcStride is how much may be allocated between two garbage collections. Go's own rule, as much as is alive,
	// would collect the few megabytes of a small catalog dozens of times a second.
	gcStride = 32 << 20
	// gcEvery is how often the pace is set anew: what is alive changes with the catalog and the active accounts, by up to
	// 10 MB a second.
	gcEvery = time.Second
)

// paceGC lets the heap grow by gcStride between two collections, until ctx ends. An operator who sets GOGC is obeyed.
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

// gcPercent is the heap's growth in percent of live bytes that makes gcStride, or a quarter of what is alive, or as much
// as a collection has to look through, which is what it costs: accounts are, draws are not.
func gcPercent(live, scanned uint64) int {
	const least, most = 25, 800
	return int(min(max(max(gcStride, scanned)*100/max(live, 1), least), most))
}
