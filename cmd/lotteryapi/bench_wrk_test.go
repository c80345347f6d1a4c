package main

import (
	"bytes"
	"cmp"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// How the servers are measured: interleaved rounds (A B A B), so that a machine that gets slower slows all alike.
// Short rounds, and more of them, are disturbed less than long ones.
const (
	benchRounds      = 3
	benchConnections = 32
)

// traffic is what wrk asks of one server.
type traffic struct {
	name, base string
	path, key  string
	mix        []string      // requests that take turns instead: lines of a key, a space and a path; each gets an X-Request-Id
	coding     string        // Accept-Encoding; "" = none
	conns      int           // 0 = benchConnections
	seconds    int           // of a round; 0 = 1
	brief      time.Duration // of a round that is shorter than a second; 0 = it is not
	warm       int           // seconds of load before each round, not counted
}

// figures is one round: requests a second, and latencies in milliseconds.
type figures struct{ rate, p50, p99, longest float64 }

// series is the rounds of one server.
type series []figures

func (s series) rates() []float64 { return s.each(func(f figures) float64 { return f.rate }) }
func (s series) p50() float64     { return median(s.each(func(f figures) float64 { return f.p50 })) }
func (s series) p99() float64     { return median(s.each(func(f figures) float64 { return f.p99 })) }

func (s series) each(of func(figures) float64) []float64 {
	out := make([]float64, len(s))
	for i, f := range s {
		out[i] = of(f)
	}
	return out
}

// measure loads the servers in turn, round after round.
func measure(b *testing.B, rounds int, loads ...traffic) []series {
	b.Helper()
	out := make([]series, len(loads))
	for range rounds {
		for i, l := range loads {
			if l.warm > 0 {
				l.seconds, l.warm = l.warm, l.seconds
				wrk(b, l)
				l.seconds = l.warm
			}
			out[i] = append(out[i], wrk(b, l))
		}
	}
	return out
}

var (
	wrkRate    = regexp.MustCompile(`Requests/sec:\s+([0-9.]+)`)
	wrkLatency = regexp.MustCompile(`(50|99)%\s+([0-9.]+)(us|ms|s)`)
	wrkLongest = regexp.MustCompile(`(Latency)(?:\s+\S+){2}\s+([0-9.]+)(us|ms|s)`) // after average and deviation
)

// wrk is one round of load.
func wrk(b *testing.B, l traffic) figures {
	b.Helper()
	conns := cmp.Or(l.conns, benchConnections)
	args := []string{"-t1", "-c" + strconv.Itoa(conns), "-d" + strconv.Itoa(cmp.Or(l.seconds, 1)) + "s", "--latency"}
	if l.coding != "" {
		args = append(args, "-H", "Accept-Encoding: "+l.coding)
	}
	dir := b.TempDir()
	if l.mix == nil {
		args = append(args, "-H", "X-API-Key: "+l.key)
	} else {
		writeBench(b, filepath.Join(dir, "turns.lua"), turns)
		writeBench(b, filepath.Join(dir, "mix"), strings.Join(l.mix, "\n")+"\n")
		args = append(args, "-s", filepath.Join(dir, "turns.lua"))
	}
	cmd := exec.Command("wrk", append(args, l.base+l.path)...)
	cmd.Env = append(os.Environ(), "MIX="+filepath.Join(dir, "mix"))
	out, err := l.run(cmd)
	if err != nil || bytes.Contains(out, []byte("Non-2xx")) || bytes.Contains(out, []byte("Socket errors")) {
		b.Fatalf("%s %s: %v\n%s", l.name, l.path, err, out)
	}
	rate, latency, longest := wrkRate.FindSubmatch(out), wrkLatency.FindAllSubmatch(out, -1), wrkLongest.FindSubmatch(out)
	if rate == nil || longest == nil || len(latency) != 2 {
		b.Fatalf("cannot read wrk's words:\n%s", out)
	}
	return figures{rate: number(rate[1]), p50: milliseconds(latency[0]), p99: milliseconds(latency[1]), longest: milliseconds(longest)}
}

// run runs wrk for the length of a round and returns its output. wrk accepts only whole seconds; when interrupted, it
// prints what it has.
func (l *traffic) run(cmd *exec.Cmd) ([]byte, error) {
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	if l.brief > 0 {
		defer time.AfterFunc(l.brief, func() { _ = cmd.Process.Signal(os.Interrupt) }).Stop()
	}
	err := cmd.Wait()
	return out.Bytes(), err
}

// longestLeft is how long to wait for the work that a load leaves behind.
const longestLeft = time.Second

// awaitIdle waits until this machine is nearly idle: responses that wrk did not wait for are still being made when it
// ends, and would disturb the next measurement. If the system does not tell how busy it is, awaitIdle does not wait.
func awaitIdle() {
	const window, busyAtMost = 50 * time.Millisecond, 0.15
	for until := time.Now().Add(longestLeft); time.Now().Before(until); {
		idle, all := processorTicks()
		time.Sleep(window)
		idleThen, allThen := processorTicks()
		if busy := (allThen - all) - (idleThen - idle); busy <= busyAtMost*(allThen-all) {
			return
		}
	}
}

// processorTicks returns how long the processors have been idle, and the time that they have had in all, in ticks
// (proc(5), /proc/stat).
func processorTicks() (idle, all float64) {
	text, _ := os.ReadFile("/proc/stat")
	line, _, _ := bytes.Cut(text, []byte("\n"))
	const nothingToDo, forDisks, stolen = 4, 5, 8
	for i, ticks := range bytes.Fields(line) {
		if i >= stolen {
			break
		}
		all += number(ticks)
		if i == nothingToDo || i == forDisks {
			idle += number(ticks)
		}
	}
	return idle, all
}

// turns is a wrk script: requests are taken in turn from the lines of the file that $MIX names.
const turns = `
local requests = {}
function init()
  for line in io.lines(os.getenv("MIX")) do
    local key, path = line:match("^(%S+) (%S+)$")
    local headers = { ["X-API-Key"] = key, ["X-Request-Id"] = "bench-" .. #requests, ["Accept-Encoding"] = wrk.headers["Accept-Encoding"] }
    requests[#requests + 1] = wrk.format("GET", path, headers)
  end
end
local i = 0
function request()
  i = i % #requests + 1
  return requests[i]
end
`

func number(text []byte) float64 {
	n, _ := strconv.ParseFloat(string(text), 64)
	return n
}

func milliseconds(match [][]byte) float64 {
	return number(match[2]) * map[string]float64{"us": 0.001, "ms": 1, "s": 1000}[string(match[3])]
}

func writeBench(b *testing.B, path, text string) {
	b.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		b.Fatal(err)
	}
}

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return (sorted[(len(sorted)-1)/2] + sorted[len(sorted)/2]) / 2
}

// ratios compares round by round: neighbours in time saw the same machine.
func ratios(a, b series) []float64 {
	out := make([]float64, len(a))
	for i := range a {
		out[i] = a[i].rate / b[i].rate
	}
	return out
}
