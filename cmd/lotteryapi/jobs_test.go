package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"lottery/configs"
	"lottery/models/store/storetest"
)

// lottery is a publisher whose responses never end, so that a node that syncs is busy until it dies.
type lottery struct {
	url   string
	asked atomic.Int64 // requests received
	here  atomic.Int64 // requests waiting for their response
	most  atomic.Int64 // most requests waiting at the same time
	open  atomic.Bool  // respond immediately
}

func newLottery(t *testing.T) *lottery {
	t.Helper()
	l := &lottery{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		l.asked.Add(1)
		l.most.Store(max(l.most.Load(), l.here.Add(1)))
		defer l.here.Add(-1)
		if !l.open.Load() {
			<-r.Context().Done() // until the client gives up or dies
		}
		http.NotFound(w, r)
	}))
	t.Cleanup(server.Close)
	l.url = server.URL
	return l
}

// args returns the arguments to sync from l, once a year: in a test, only a job that never ran, or was cut off, runs.
func (l *lottery) args(url string) []string {
	args := serveArgs(url, "--feeds-sync", "0 0 1 1 *", "--feeds-allow-private", "true")
	for _, o := range configs.Options() {
		if strings.HasPrefix(o.Key, "feeds_") && strings.HasSuffix(o.Key, "_url") {
			args = append(args, "--"+o.Flag(), l.url)
		}
	}
	return args
}

// listedJob is a line of `lotteryadmin jobs list`.
type listedJob struct {
	Name, State  string
	Node         *string
	LastStarted  *string `json:"last_started"`
	LastFinished *string `json:"last_finished"`
	Failures     int
}

// syncJob returns what the list of jobs says of the sync.
func syncJob(t *testing.T, url string) listedJob {
	t.Helper()
	out, code := admin(t, url, "jobs", "list")
	var list []listedJob
	if err := json.Unmarshal(out, &list); err != nil || code != 0 {
		t.Fatalf("jobs list: %d %v %s", code, err, out)
	}
	for _, j := range list {
		if j.Name == "sync" {
			return j
		}
	}
	t.Fatalf("no sync in %s", out)
	return listedJob{}
}

// Of two servers, one runs a job. When it is killed, the other takes over; when that one is stopped, the next takes
// over at once. Never do two run it at the same time.
func TestJobsOfKilledServers(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for a killed server's lock to run out")
	}
	t.Parallel()
	storetest.EachEmpty(t, func(t *testing.T, url string) {
		t.Parallel()
		feed := newLottery(t)
		dir := t.TempDir()
		first := start(t, dir, feed.args(url)...)
		storetest.Until(t, "the first server to sync", func() bool { return feed.here.Load() == 1 })
		began := syncJob(t, url)
		if began.State != "running" || began.Node == nil || began.LastFinished != nil {
			t.Fatalf("%+v", began)
		}
		second := start(t, dir, feed.args(url)...)
		if _, code := admin(t, url, "jobs", "run", "sync"); code != 5 {
			t.Errorf("by hand, while a server runs it: exit code %d", code)
		}
		if n := feed.asked.Load(); n != 1 {
			t.Errorf("%d requests while the first server is at it", n)
		}
		if err := first.cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		<-first.exited
		killed := time.Now()
		deadline := killed.Add(2 * time.Minute) // the promise is half a minute; this machine may be busy
		for feed.asked.Load() == 1 && time.Now().Before(deadline) {
			time.Sleep(50 * time.Millisecond) // other processes cannot signal this one
		}
		t.Logf("taken over after %s", time.Since(killed).Round(time.Second))
		storetest.Until(t, "the second server to sync", func() bool { return feed.here.Load() == 1 })
		heir := syncJob(t, url)
		if heir.State != "running" || *heir.Node == *began.Node || heir.Failures != 1 {
			t.Errorf("after the kill: %+v, was %+v", heir, began)
		}
		if code := second.stop(t); code != 0 {
			t.Errorf("the server that was stopped in mid-job: exit code %d\n%s", code, second.stderr)
		}
		if stopped := syncJob(t, url); stopped.State != "cut_off" || stopped.Failures != 1 {
			t.Errorf("after the stop: %+v", stopped)
		}
		feed.open.Store(true)
		start(t, dir, feed.args(url)...)
		storetest.Until(t, "the third server to have synced", func() bool { return syncJob(t, url).LastFinished != nil })
		if n := feed.most.Load(); n != 1 {
			t.Errorf("%d servers were at it at once", n)
		}
	})
}

// Prometheus sees what jobs do, also those that other nodes ran.
func TestJobMetrics(t *testing.T) {
	t.Parallel()
	url := storetest.EmptyURL(t)
	if out, code := admin(t, url, "jobs", "run", "cleanup"); code != 0 {
		t.Fatalf("%d %s", code, out)
	}
	p := start(t, t.TempDir(), serveArgs(url, "--ops-listen", "127.0.0.1:0", "--smtp-url", "smtp://127.0.0.1:1", "--mail-from", "a@example.com")...)
	ops := &process{base: opsListening(p.stderr.String())}
	text := ""
	storetest.Until(t, "the metrics of jobs", func() bool {
		_, body := ops.get(t, "/metrics", "")
		text = string(body)
		return strings.Contains(text, `lottery_job_last_success_timestamp_seconds{job="cleanup"}`) &&
			strings.Contains(text, `lottery_job_last_success_timestamp_seconds{job="key-expiry"}`)
	})
	for _, want := range []string{ // its hour may have come in between
		`lottery_job_runs_total\{job="key-expiry",result="done"\} [12]\n`, `lottery_job_runs_total\{job="key-expiry",result="failed"\} 0\n`,
		`lottery_job_runs_total\{job="cleanup",result="cut_off"\} 0\n`, `lottery_job_duration_seconds_count\{job="key-expiry"\} [12]\n`,
	} {
		if !regexp.MustCompile(want).MatchString(text) {
			t.Errorf("the metrics lack %s:\n%s", want, text)
		}
	}
}

// opsListening returns the address of the operator's listener that a log says.
func opsListening(log string) string {
	for line := range strings.Lines(log) {
		var said struct{ Msg, Addr string }
		if json.Unmarshal([]byte(line), &said) == nil && said.Msg == "operator's listener" {
			return "http://" + said.Addr
		}
	}
	return ""
}
