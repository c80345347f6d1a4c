package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"lottery/models/store/storetest"
)

// TestChaos lets everything fail that can, at random, while requests run: three servers on PostgreSQL and Redis behind
// a balancer are killed, stopped and started, and so are both stores, while draws are imported, keys revoked and plans
// changed. Afterwards it checks what every client was told. `make chaos` runs it for minutes and prints a report;
// LOTTERY_CHAOS is how long each half runs: with the counters in Redis, and in PostgreSQL.
func TestChaos(t *testing.T) {
	t.Parallel()
	storetest.AwayFromMidnight(t)
	length := 5 * time.Second
	if text := os.Getenv("LOTTERY_CHAOS"); text != "" {
		var err error
		if length, err = time.ParseDuration(text); err != nil {
			t.Fatalf("LOTTERY_CHAOS: %v", err)
		}
	}
	for _, counters := range []string{"Redis", "PostgreSQL"} {
		t.Run(counters, func(t *testing.T) {
			w := newChaos(t, counters)
			defer w.end() // before the test's cleanup kills the servers, which their places would restart
			w.run(length)
			w.judge()
			if os.Getenv("LOTTERY_CHAOS") != "" {
				w.report(length)
			}
		})
	}
}

// chaos is the world under test, with what was done to it and what it said.
type chaos struct {
	t        *testing.T
	counters string // Redis or PostgreSQL
	postgres *storetest.Server
	redis    *storetest.Redis
	url      string
	servers  []*place
	balancer *balancer
	fleet    *fleet
	accounts []*chaosAccount

	// outage is write-locked while the counter store is away: strict accounts then send nothing.
	outage    sync.RWMutex
	dbAway    atomic.Int64 // when PostgreSQL last went away or came back, Unix ns; while it is away, the far future
	attempted atomic.Int64 // the newest version of the draws whose import was begun
	imported  atomic.Int64 // the newest version whose import was completed
	dir       string

	mu         sync.Mutex
	did        map[string]int // disturbances
	importedAt map[int64]time.Time
	plan       string // the changing account's plan
	load       chaosLoad
	stale      atomic.Int64 // ns: the longest that an old version was served after a newer one's import was complete
}

// place is one place of the fleet. A server that ends there is restarted, as by a service manager.
type place struct {
	w     *chaos
	args  []string
	mu    sync.Mutex
	now   *process
	ended bool
	done  chan struct{}
}

func newChaos(t *testing.T, counters string) *chaos {
	w := &chaos{t: t, counters: counters, postgres: storetest.NewPostgresServer(t), redis: storetest.NewRedis(t), did: map[string]int{}, importedAt: map[int64]time.Time{}, plan: "free", dir: t.TempDir()}
	w.url = w.postgres.NewDatabase(t)
	w.fleet = newFleet(t, 0, nil)
	w.fleet.client.Timeout = 15 * time.Second
	if out, code := admin(t, w.url, "games", "add", "--id", chaosGame, "--name", "Chaos Pick 5", "--digits", "5",
		"--tods", "Midday,Evening", "--jurisdiction", "XX", "--timezone", "UTC"); code != 0 {
		t.Fatalf("games add: %d %s", code, out)
	}
	w.importNext()
	w.makeAccounts()
	args := serveArgs(w.url, "--drain-delay", (3 * healthEvery).String())
	if counters == "Redis" {
		args = append(args, "--redis-url", w.redis.URL())
	}
	var bases []string
	for range 3 {
		p := start(t, t.TempDir(), args...)
		again := slices.Clone(args)
		again[2] = strings.TrimPrefix(p.base, "http://")
		s := &place{w: w, args: again, now: p, done: make(chan struct{})}
		go s.keep()
		w.servers = append(w.servers, s)
		bases = append(bases, p.base)
	}
	w.balancer = newBalancer(t, bases...)
	return w
}

// keep restarts the server whenever it has ended.
func (s *place) keep() {
	defer close(s.done)
	for {
		s.mu.Lock()
		now := s.now
		s.mu.Unlock()
		<-now.exited
		s.mu.Lock()
		if s.ended {
			s.mu.Unlock()
			return
		}
		if strings.Contains(now.stderr.String(), "panic") {
			s.w.t.Errorf("a server panicked:\n%s", now.stderr)
		}
		s.mu.Unlock()
		time.Sleep(100 * time.Millisecond) // a service manager waits a little, too
		s.mu.Lock()
		s.now = launch(s.w.t, s.w.dir, s.args...)
		s.mu.Unlock()
	}
}

func (s *place) signal(sig syscall.Signal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_ = s.now.cmd.Process.Signal(sig) // it may have ended by itself
}

func (s *place) end() {
	s.mu.Lock()
	s.ended = true
	_ = s.now.cmd.Process.Kill()
	s.mu.Unlock()
	<-s.done
}

func (w *chaos) end() {
	for _, s := range w.servers {
		s.end()
	}
}

// ready waits until every server answers again.
func (w *chaos) ready() {
	time.Sleep(3 * healthEvery) // the balancer has yet to see that one is gone
	for _, n := range w.balancer.nodes {
		storetest.Until(w.t, "server "+n.host+" to be ready", n.ready.Load)
	}
}

// run causes disturbances, one after the other and sometimes two at once, until length is over.
func (w *chaos) run(length time.Duration) {
	stop := w.startLoad()
	for began := time.Now(); time.Since(began) < length && !w.t.Failed(); {
		disturbance := chaosDisturbances[rand.IntN(len(chaosDisturbances))]
		w.mu.Lock()
		w.did[disturbance.name]++
		w.mu.Unlock()
		disturbance.do(w)
		time.Sleep(time.Duration(rand.IntN(800)) * time.Millisecond)
	}
	w.ready()
	stop()
}

var chaosDisturbances = []struct {
	name string
	do   func(w *chaos)
}{
	{"a server is killed", func(w *chaos) { w.any().signal(syscall.SIGKILL); w.ready() }},
	{"two servers are killed at once", func(w *chaos) {
		w.servers[0].signal(syscall.SIGKILL)
		w.servers[1].signal(syscall.SIGKILL)
		w.ready()
	}},
	{"a server is stopped", func(w *chaos) { w.any().signal(syscall.SIGTERM); time.Sleep(10 * healthEvery); w.ready() }},
	{"PostgreSQL is away", func(w *chaos) { w.withoutPostgres(func() { moment(3000) }) }},
	{"PostgreSQL goes away during an import", func(w *chaos) {
		var importing sync.WaitGroup
		importing.Go(func() { w.importNext() })
		moment(300)
		w.withoutPostgres(func() { moment(1000) })
		importing.Wait()
	}},
	{"the counters are away", func(w *chaos) { w.withoutCounters(func() { moment(3000) }) }},
	{"draws are imported", func(w *chaos) { w.importNext() }},
	{"draws are imported", func(w *chaos) { w.importNext() }},
	{"a server is killed during an import", func(w *chaos) {
		var importing sync.WaitGroup
		importing.Go(func() { w.importNext() })
		moment(300)
		w.any().signal(syscall.SIGKILL)
		importing.Wait()
		w.ready()
	}},
	{"a key is replaced", func(w *chaos) { w.replaceKey() }},
	{"a key is replaced", func(w *chaos) { w.replaceKey() }},
	{"a plan changes", func(w *chaos) { w.changePlan() }},
}

func moment(most int) { time.Sleep(time.Duration(100+rand.IntN(most)) * time.Millisecond) }

func (w *chaos) any() *place { return w.servers[rand.IntN(len(w.servers))] }

// away runs do while a store is away. If w counts in that store, strictly judged accounts send nothing meanwhile, and
// no server dies before it has stored what it admitted.
func (w *chaos) away(counters bool, stop, start func(), do func()) {
	if counters {
		w.outage.Lock()
		defer w.outage.Unlock()
	}
	stop()
	do()
	start()
	if counters {
		time.Sleep(3 * time.Second) // the servers try every 250 ms, and an earlier attempt may wait for 2 s
	}
}

const farFuture = 1 << 62

func (w *chaos) withoutPostgres(do func()) {
	w.away(w.counters == "PostgreSQL", func() {
		w.dbAway.Store(farFuture)
		w.postgres.Stop()
	}, func() {
		w.postgres.Start(w.t)
		w.dbAway.Store(time.Now().UnixNano())
	}, do)
	w.ready()
}

func (w *chaos) withoutCounters(do func()) {
	if w.counters == "PostgreSQL" {
		w.withoutPostgres(do)
		return
	}
	w.away(true, w.redis.Stop, func() { w.redis.Start(w.t) }, do)
}

// report prints what happened, for docs/reliability.md.
func (w *chaos) report(length time.Duration) {
	fmt.Printf("\nChaos, counters in %s, %s\n\n", w.counters, length)
	t := newTable("what happened", "", "times")
	names := make([]string, 0, len(w.did))
	for name := range w.did {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		t.add(name, fmt.Sprint(w.did[name]))
	}
	t.print()
	w.load.report()
	fmt.Printf("imports done: %d; an older version was answered for at most %s after that\n", w.imported.Load(), time.Duration(w.stale.Load()).Round(time.Millisecond))
}
