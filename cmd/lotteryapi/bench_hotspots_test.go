package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/pprof/profile"
)

// hotspot is one line of a profile's table: all samples with one of the functions in their stack, except those counted
// by an earlier line. A function is given by the beginning of its name.
type hotspot struct {
	what      string
	functions []string
	done      string // about it
}

// cpuHotspots lists where processor time goes. The runtime's own work, done for all, comes first.
var cpuHotspots = []hotspot{
	{"the kernel: write on sockets", []string{"internal/poll.(*FD).Write"}, "one write an answer, where net/http makes two of more than 4 KB; many connections are written to in turn (decision 0025)"},
	{"the kernel: read on sockets", []string{"internal/poll.(*FD).Read"}, "one read a request, as with bare"},
	{"garbage collection", []string{"runtime.gcBgMarkWorker", "runtime.gcAssistAlloc", "runtime.bgsweep", "runtime.bgscavenge", "runtime.gcStart"}, "every 32 MiB, not every few"},
	{"allocation", []string{"runtime.mallocgc", "runtime.newobject", "runtime.makeslice", "runtime.growslice"}, "see the next table"},
	{"scheduler, with the runtime's watcher", []string{"runtime.mcall", "runtime.mstart", "runtime.schedule", "runtime.goready", "runtime.ready", "runtime.sysmon"}, "no goroutine waits for the client of each request (decision 0018)"},
	{"net/http: header cloned", []string{"net/http.Header.Clone"}, "as many headers as the contract asks for, as with bare"},
	{"net/http: header sorted and written", []string{"net/http.(*chunkWriter).writeHeader"}, "as many headers as the contract asks for, as with bare"},
	{"net/http: request read and parsed", []string{"net/http.(*conn).readRequest"}, "as with bare"},
	{"map of answer headers", []string{"runtime.mapassign", "runtime.makemap", "net/http.Header.", "net/textproto.MIMEHeader."}, "values that do not change are shared"},
	{"draws found, records written", []string{"lottery/api.(*records)", "lottery/models/catalog.", "lottery/api.(*call).answer"}, "put together from blocks of fixed size (decision 0027)"},
	{"ETag, If-None-Match", []string{"lottery/api.(*call).etag", "lottery/api.hash", "lottery/api.matches"}, "one hash, no copy"},
	{"cursor and Link", []string{"lottery/api.encodeCursor", "lottery/api.(*call).nextPage"}, "put together in one buffer"},
	{"parameters read", []string{"lottery/api.(*binder)", "lottery/api.unescape"}, "no map of them is made"},
	{"key: SHA-256, map", []string{"lottery/api/middleware.(*Keys)", "lottery/models/secret."}, "handed on, not put into the context; known keys skip the checksum"},
	{"counting, rate headers", []string{"lottery/api/quota.(*Store)", "lottery/api/quota.(*Gate).Headers", "lottery/api/quota.(*Gate).Handle.func"}, "blocks of requests in advance (decision 0010); one text for two headers"},
	{"request id", []string{"lottery/api/middleware.idOf", "lottery/api/middleware.newRequestID"}, "a client's own id is used as it is"},
	{"what the metrics and the log count", []string{"lottery/api/middleware.(*Traffic).count", "lottery/api.(*Handler).routes.(*Traffic).Observe.func5.1"}, "counters without locks of all requests"},
	{"connections: deadlines, answers in turn, clients that go away", []string{"lottery/api/middleware.(*connection)", "net/http.(*connReader)"}, "eight deadlines a request are noted, and kept by one clock (decision 0018)"},
	{"net/http and Gin: the rest", []string{"net/http.", "github.com/gin-gonic/gin."}, "as with bare"},
}

// allocationHotspots lists who allocates.
var allocationHotspots = []hotspot{
	{"net/http: header cloned", []string{"net/http.Header.Clone"}, "as with bare"},
	{"request id, and the first of our headers", []string{"lottery/api.(*Handler).routes.RequestID"}, "a client's own id is used as it is"},
	{"cursor", []string{"lottery/api.encodeCursor"}, "as long as it is, and its text"},
	{"Link", []string{"lottery/api.(*call).nextPage"}, "one allocation"},
	{"the key's hash", []string{"lottery/models/secret."}, "none in a plain build; the profile's inlining puts it on the heap"},
	{"rate headers", []string{"lottery/api/quota.(*Gate).Headers"}, "one allocation for two"},
	{"ETag", []string{"lottery/api.(*call).etag"}, "one allocation, its text"},
	{"our header map, as it grows", []string{"lottery/api.(*call).finished"}, "values that do not change are shared"},
	{"draws, lists, encoding, compression", []string{"lottery/api.", "lottery/models/catalog."}, "buffers are used again"},
	{"net/http: request, its header, URL, context", []string{"net/http.(*conn).serve"}, "as with bare"},
}

// hotspotSeconds is how long the program is profiled.
const hotspotSeconds = 5

// hotspots prints where processor time and memory of ten-draw recent go, from the program's own profiles under load.
func (s *bench) hotspots(b *testing.B) {
	cpu, memory := make(chan []byte, 1), make(chan []byte, 1)
	go func() { cpu <- s.product.pprof(b, fmt.Sprintf("profile?seconds=%d", hotspotSeconds)) }()
	go func() { memory <- s.product.pprof(b, fmt.Sprintf("allocs?seconds=%d", hotspotSeconds)) }()
	load := traffic{name: "product", base: s.product.base, path: recentPath, key: s.key, seconds: hotspotSeconds + 1}
	requests := wrk(b, load).rate * hotspotSeconds
	printHotspots(b, "processor time", <-cpu, "cpu", cpuHotspots, 1e3, requests, "µs")
	printHotspots(b, "allocated bytes", <-memory, "alloc_space", allocationHotspots, 1, requests, "bytes")
}

// printHotspots prints one of a profile's values by hotspot, largest first. One printed unit is `unit` of the
// profile's.
func printHotspots(b *testing.B, of string, data []byte, value string, known []hotspot, unit, requests float64, unitName string) {
	b.Helper()
	p, err := profile.ParseData(data)
	if err != nil {
		b.Fatal(err)
	}
	at := slices.IndexFunc(p.SampleType, func(t *profile.ValueType) bool { return t.Type == value })
	known = append(slices.Clone(known), hotspot{what: "all else"})
	spent, total := make([]int64, len(known)), int64(0)
	for _, sample := range p.Sample {
		spent[whose(sample, known)] += sample.Value[at]
		total += sample.Value[at]
	}
	if total == 0 {
		b.Fatalf("the program was idle while it was watched: no %s", of)
	}
	order := make([]int, len(known))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(x, y int) int { return cmp.Compare(spent[y], spent[x]) })
	t := newTable(fmt.Sprintf("Ten-draw recent, %d connections: %s, in %d seconds", benchConnections, of, hotspotSeconds), of, "%", unitName+" a request", "what was done")
	for _, i := range order {
		t.add(known[i].what, fmt.Sprintf("%.1f", 100*float64(spent[i])/float64(total)), fmt.Sprintf("%.3g", float64(spent[i])/unit/requests), known[i].done)
	}
	t.print()
}

// whose returns the index of the first of known with a function in the sample's stack, or the last one.
func whose(sample *profile.Sample, known []hotspot) int {
	for i, h := range known {
		for _, location := range sample.Location {
			for _, line := range location.Line {
				if slices.ContainsFunc(h.functions, func(f string) bool { return strings.HasPrefix(line.Function.Name, f) }) {
					return i
				}
			}
		}
	}
	return len(known) - 1
}
