package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"lottery/billing/sandbox"
	"lottery/models/store/storetest"
)

// shop is everything that sells: Stripe's stand-in, a database, and servers behind one public URL.
type shop struct {
	t      *testing.T
	stripe *sandbox.Sandbox
	url    string // of the database
	dir    string
	config string                  // the settings' file, of servers and of the operator
	node   atomic.Pointer[process] // receives the webhooks; nil = none does
	nodes  []*process
	client http.Client
}

const customerEmail = "ada@example.com"

// newShop runs n servers that sell, on the database at address.
func newShop(t *testing.T, address string, n int) *shop {
	t.Helper()
	s := &shop{t: t, url: address, dir: t.TempDir(), client: http.Client{Timeout: 10 * time.Second}}
	t.Cleanup(s.client.CloseIdleConnections)
	var api http.Handler
	stripe := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { api.ServeHTTP(w, r) }))
	public := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p := s.node.Load()
		if p == nil {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		to, _ := url.Parse(p.base)
		proxy := httputil.NewSingleHostReverseProxy(to)
		proxy.ErrorHandler = func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) }
		proxy.ServeHTTP(w, r)
	}))
	var err error
	if s.stripe, err = sandbox.New(sandbox.Options{URL: stripe.URL}); err != nil {
		t.Fatal(err)
	}
	api = s.stripe
	t.Cleanup(func() {
		s.stripe.ClearFaults()
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		_ = s.stripe.Close(ctx)
		public.Close()
		stripe.CloseClientConnections()
		stripe.Close()
	})
	settings := fmt.Sprintf("stripe_secret_key: %s\nstripe_api_url: %s\npublic_url: %s\n", sandbox.DefaultKey, stripe.URL, public.URL)
	s.config = s.write(settings)
	var made struct {
		Secret string `json:"webhook_secret"`
	}
	s.admin(&made, "billing", "setup")
	s.config = s.write(settings + "stripe_webhook_secret: " + made.Secret + "\n")
	for range n {
		s.start()
	}
	return s
}

func (s *shop) write(settings string) string {
	s.t.Helper()
	path := filepath.Join(s.dir, "lottery.yaml")
	if err := os.WriteFile(path, []byte(settings), 0o600); err != nil {
		s.t.Fatal(err)
	}
	return path
}

// start runs one more server.
func (s *shop) start() {
	s.t.Helper()
	p := start(s.t, s.t.TempDir(), serveArgs(s.url, "--config", s.config)...)
	s.nodes = append(s.nodes, p)
	s.node.Store(p)
}

// admin runs an operator's command.
func (s *shop) admin(into any, args ...string) {
	s.t.Helper()
	out, code := admin(s.t, s.url, append([]string{"--config", s.config}, args...)...)
	if code != 0 {
		s.t.Fatalf("%v: %d %s", args, code, out)
	}
	if into != nil {
		if err := json.Unmarshal(out, into); err != nil {
			s.t.Fatalf("%v: %v in %s", args, err, out)
		}
	}
}

// checkout opens a checkout for the customer.
func (s *shop) checkout() (sessionID string) {
	s.t.Helper()
	var session struct {
		ID string `json:"session_id"`
	}
	s.admin(&session, "billing", "checkout", customerEmail)
	return session.ID
}

func (s *shop) pay(session string) {
	s.t.Helper()
	if _, paid, err := s.stripe.Pay(session, sandbox.CardOK); err != nil || !paid {
		s.t.Fatalf("not paid: %v", err)
	}
}

// answer is a server's response to a counted request.
type answer struct{ status, limit, remaining int }

func (s *shop) ask(p *process, key string) answer {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, p.base+countedPath, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("X-Api-Key", key)
	res, err := s.client.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	res.Body.Close()
	limit, _ := strconv.Atoi(res.Header.Get("X-Ratelimit-Limit"))
	remaining, err := strconv.Atoi(res.Header.Get("X-Ratelimit-Remaining"))
	if err != nil {
		s.t.Fatalf("%d %v", res.StatusCode, res.Header)
	}
	return answer{res.StatusCode, limit, remaining}
}

// within waits for something, and fails if it took longer than two seconds.
func (s *shop) within(what string, ok func() bool) {
	s.t.Helper()
	began := time.Now()
	storetest.Until(s.t, what, ok)
	if took := time.Since(began); took > 2*time.Second {
		s.t.Errorf("%s took %s", what, took)
	}
}

// inbox returns the events that arrived.
func (s *shop) inbox() (list []struct {
	ID, Type, State string
	Attempts        int
},
) {
	s.t.Helper()
	s.admin(&list, "billing", "events")
	return list
}

func TestFault25RefusesToStartWithoutWebhookSecret(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{}, {"--stripe-webhook-secret", ""}, {"--stripe-webhook-secret", " , "}} {
		p := launch(t, t.TempDir(), serveArgs(storetest.EmptyURL(t), append([]string{"--stripe-secret-key", sandbox.DefaultKey}, args...)...)...)
		<-p.exited
		if code, said := p.cmd.ProcessState.ExitCode(), p.stderr.String(); code != exitUsage || !strings.Contains(said, "stripe_webhook_secret") {
			t.Errorf("%v: exit code %d: %s", args, code, said)
		}
	}
}

// The server dies at the worst moment: the event is claimed, its account locked, and nothing done.
func TestFault29KilledAfterInboxRowBeforeWork(t *testing.T) {
	t.Parallel()
	storetest.EachEmpty(t, func(t *testing.T, address string) {
		t.Parallel()
		s := newShop(t, address, 1)
		key := newKey(t, s.url, customerEmail)
		session := s.checkout()
		if got := s.ask(s.nodes[0], key); got.limit != 100 {
			t.Fatalf("%+v", got)
		}
		s.stripe.FaultAPI(sandbox.APIFault{Action: sandbox.Hang})
		s.pay(session)
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		if err := s.stripe.Quiesce(ctx); err != nil {
			t.Fatal(err)
		}
		sent := 0
		for _, e := range s.stripe.Events() {
			for _, d := range e.Deliveries {
				sent++
				if d.State != "delivered" {
					t.Fatalf("%s: %+v", e.Type, d)
				}
			}
		}
		storetest.Until(t, "the worker to hang", func() bool {
			for _, c := range s.stripe.Calls() {
				if c.Fault == sandbox.Hang {
					return true
				}
			}
			return false
		})
		s.node.Store(nil)
		_ = s.nodes[0].cmd.Process.Kill()
		<-s.nodes[0].exited
		inbox, claimed := s.inbox(), false
		for _, e := range inbox {
			claimed = claimed || e.Attempts > 0
			if e.State != "pending" {
				t.Errorf("%+v", e)
			}
		}
		if len(inbox) != sent || sent == 0 || !claimed {
			t.Fatalf("%d events were sent, in the inbox are %+v", sent, inbox)
		}
		s.stripe.ClearFaults()
		died := time.Now()
		s.start()
		storetest.Until(t, "the customer to be on Pro", func() bool { return s.ask(s.nodes[1], key).limit == 10_000 })
		t.Logf("on Pro %s after the kill", time.Since(died).Round(time.Millisecond))
		storetest.Until(t, "the inbox to be worked off", func() bool {
			for _, e := range s.inbox() {
				if e.State == "pending" {
					return false
				}
			}
			return true
		})
	})
}

func TestFault31ReconcileOfARunningServer(t *testing.T) {
	t.Parallel()
	storetest.EachEmpty(t, func(t *testing.T, address string) {
		t.Parallel()
		s := newShop(t, address, 1)
		key := newKey(t, s.url, customerEmail)
		session := s.checkout()
		s.stripe.FaultDelivery(sandbox.DeliveryFault{Action: sandbox.Drop})
		s.pay(session)
		s.stripe.Advance(3 * 24 * time.Hour)
		if got := s.ask(s.nodes[0], key); got.limit != 100 || len(s.inbox()) != 0 {
			t.Fatalf("%+v", got)
		}
		s.admin(nil, "billing", "sync", "--all")
		s.within("Pro", func() bool { return s.ask(s.nodes[0], key).limit == 10_000 })

		// And the other way round: it ended, and no event said so.
		if err := s.stripe.Cancel(s.stripe.Subscriptions("")[0].ID); err != nil {
			t.Fatal(err)
		}
		s.admin(nil, "billing", "sync", "--all")
		s.within("Free", func() bool { return s.ask(s.nodes[0], key).limit == 100 })
	})
}

// eachShop runs test with one server on SQLite, and with two on PostgreSQL.
func eachShop(t *testing.T, test func(s *shop, key string)) {
	t.Helper()
	storetest.AwayFromMidnight(t)
	storetest.EachEmpty(t, func(t *testing.T, address string) {
		t.Parallel()
		nodes := 2
		if strings.HasPrefix(address, "sqlite:") {
			nodes = 1
		}
		s := newShop(t, address, nodes)
		test(s, newKey(t, s.url, customerEmail))
	})
}

// spend sends n requests to the servers in turn, all of which must be served.
func (s *shop) spend(key string, n int) {
	s.t.Helper()
	for i := range n {
		if got := s.ask(s.nodes[i%len(s.nodes)], key); got.status != http.StatusOK {
			s.t.Fatalf("request %d: %+v", i+1, got)
		}
	}
}

func TestFault40DowngradeInMidDay(t *testing.T) {
	t.Parallel()
	eachShop(t, func(s *shop, key string) {
		s.pay(s.checkout())
		for _, p := range s.nodes {
			storetest.Until(s.t, "Pro", func() bool { return s.ask(p, key).limit == 10_000 })
		}
		s.spend(key, 3000)
		if err := s.stripe.Cancel(s.stripe.Subscriptions("")[0].ID); err != nil {
			s.t.Fatal(err)
		}
		s.within("the downgrade", func() bool {
			for _, p := range s.nodes {
				if s.ask(p, key) != (answer{http.StatusTooManyRequests, 100, 0}) {
					return false
				}
			}
			return true
		})
		for _, p := range s.nodes { // and it stays so
			for range 10 {
				if got := s.ask(p, key); got != (answer{http.StatusTooManyRequests, 100, 0}) {
					s.t.Errorf("%+v", got)
				}
			}
		}
	})
}

func TestFault41UpgradeAtTheLimit(t *testing.T) {
	t.Parallel()
	eachShop(t, func(s *shop, key string) {
		session := s.checkout()
		s.spend(key, 100)
		for _, p := range s.nodes {
			if got := s.ask(p, key); got != (answer{http.StatusTooManyRequests, 100, 0}) {
				s.t.Fatalf("at the limit: %+v", got)
			}
		}
		s.pay(session)
		served := 100
		s.within("the upgrade", func() bool {
			for _, p := range s.nodes[served-100:] {
				got := s.ask(p, key)
				if got.status != http.StatusOK {
					return false
				}
				// What another server holds in advance counts as used: exact at first, then an upper bound.
				served++
				if got.limit != 10_000 || got.remaining > 10_000-served || served == 101 && got.remaining != 9_899 {
					s.t.Errorf("request %d of the day: %+v", served, got)
				}
			}
			return true
		})
	})
}
