package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"lottery/models/store/storetest"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"
)

// needWrk skips a benchmark if wrk, which makes the load, is missing.
func needWrk(b *testing.B) {
	b.Helper()
	if _, err := exec.LookPath("wrk"); err != nil {
		b.Skip("wrk is not installed: sudo apt-get install -y wrk")
	}
}

// fetch returns one response to key, in the given content coding, "" = none.
func fetch(t testing.TB, base, uri, key, coding string) captured {
	t.Helper()
	r, err := http.NewRequestWithContext(context.Background(), http.MethodGet, base+uri, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("X-API-Key", key)
	r.Header.Set("Accept-Encoding", "identity")
	if coding != "" {
		r.Header.Set("Accept-Encoding", coding)
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("%s: %d %v %s", uri, res.StatusCode, err, body)
	}
	return captured{URI: uri, Coding: coding, Header: res.Header, Body: body}
}

// startYardstick runs this test binary as one of the yardsticks, a process of its own like the product.
func startYardstick(b *testing.B, kind, url string, answers ...captured) (base string) {
	b.Helper()
	dir := b.TempDir()
	text, err := json.Marshal(answers)
	if err != nil {
		b.Fatal(err)
	}
	writeBench(b, filepath.Join(dir, "answers"), string(text))
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), yardstickEnv+"="+kind, "YARDSTICK_DIR="+dir, "YARDSTICK_DATABASE="+url)
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	storetest.Until(b, "the yardstick "+kind, func() bool {
		addr, err := os.ReadFile(filepath.Join(dir, "addr"))
		base = "http://" + string(addr)
		return err == nil && len(addr) > 0
	})
	return base
}

// startOps is start with the operator's listener, where the process reports about itself.
func startOps(b *testing.B, url string) *process {
	b.Helper()
	return start(b, b.TempDir(), serveArgs(url, "--ops-listen", "127.0.0.1:0")...)
}

var opsAddr = regexp.MustCompile(`"operator's listener","addr":"([^"]+)"`)

// pprof returns what the process reports under /debug/pprof/; if it does not, the benchmark fails.
func (p *process) pprof(b *testing.B, of string) []byte {
	b.Helper()
	addr := opsAddr.FindStringSubmatch(p.stderr.String())
	if addr == nil {
		b.Errorf("no operator's listener:\n%s", p.stderr)
		return nil
	}
	res, err := http.Get("http://" + addr[1] + "/debug/pprof/" + of)
	if err != nil {
		b.Error(err)
		return nil
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		b.Error(err)
	}
	return text
}

// spending is what a process has spent since its start: CPU time, and how much of that was garbage collection.
type spending struct{ cpu, gc time.Duration }

func (p *process) spending(b *testing.B) spending {
	b.Helper()
	text := p.pprof(b, "allocs?debug=1")
	fraction, last := said(text, "GCCPUFraction"), said(text, "LastGC")
	if last == 0 {
		b.Fatal("the process does not tell of its garbage collections")
	}
	cpu, uptime := p.clocks(b)
	counted := uptime - time.Since(time.Unix(0, int64(last))) // the fraction is of the time until the last collection
	return spending{cpu: cpu, gc: time.Duration(fraction * float64(counted) * float64(runtime.NumCPU()))}
}

// said returns one of the numbers of runtime.MemStats, as a profile lists them.
func said(text []byte, name string) float64 {
	_, after, _ := bytes.Cut(text, []byte("# "+name+" = "))
	line, _, _ := bytes.Cut(after, []byte("\n"))
	return number(line)
}

// clocks reads the process's CPU time and age; a tick is 10 ms on Linux.
func (p *process) clocks(b *testing.B) (cpu, uptime time.Duration) {
	b.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.cmd.Process.Pid))
	if err != nil {
		b.Skip("only Linux tells of processes in /proc")
	}
	machine, err := os.ReadFile("/proc/uptime")
	if err != nil {
		b.Fatal(err)
	}
	const tick = 10 * time.Millisecond
	field := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	cpu = time.Duration(number([]byte(field[11]))+number([]byte(field[12]))) * tick
	now := number([]byte(strings.Fields(string(machine))[0]))
	return cpu, time.Duration(now*float64(time.Second)) - time.Duration(number([]byte(field[19])))*tick
}

// gcShare returns how much of the CPU time since before went to garbage collection, in percent.
func (p *process) gcShare(b *testing.B, before spending) float64 {
	b.Helper()
	after := p.spending(b)
	return 100 * float64(after.gc-before.gc) / float64(after.cpu-before.cpu)
}

// resident returns the process's resident memory now and at its highest, in MiB.
func (p *process) resident(b *testing.B) (now, peak int) {
	b.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		b.Skip("only Linux tells of processes in /proc")
	}
	read := func(name string) int {
		_, after, _ := strings.Cut(string(text), name+":")
		kib, _ := strconv.Atoi(strings.Fields(after)[0])
		return kib >> 10
	}
	return read("VmRSS"), read("VmHWM")
}
