package main

import (
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"lottery/billing/sandbox"
	"lottery/models/store/storetest"
)

// What was paid in an earlier demo is kept, and the stand-in for Stripe still tells the demo of what is paid.
func TestDemoKeepsWhatWasPaid(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := &shop{t: t, url: "sqlite:" + filepath.Join(dir, "data", "demo.db"), dir: dir}
	listen := "127.0.0.1:0"
	for start := range 2 {
		p := demoReady(t, launch(t, dir, "demo", "--listen", listen))
		listen = "127.0.0.1" + strings.TrimPrefix(p.base, "http://localhost") // the address that the stand-in knows
		stripe := stripeOf(t, p)
		if kept := subscriptionsOf(t, stripe)["active"]; kept != start {
			t.Errorf("start %d: %d subscriptions", start+1, kept)
		}
		s.config = s.write(fmt.Sprintf("stripe_secret_key: %s\nstripe_api_url: %s\npublic_url: %s\n", sandbox.DefaultKey, stripe, p.base))
		email := fmt.Sprintf("ada%d@example.com", start)
		key := newKey(t, s.url, email)
		var session struct {
			ID string `json:"session_id"`
		}
		s.admin(&session, "billing", "checkout", email)
		paid, err := http.Post(stripe+"/_sandbox/pay", "application/json", strings.NewReader(`{"session": "`+session.ID+`", "card": "ok"}`))
		if err != nil || paid.StatusCode != http.StatusOK {
			t.Fatalf("pay: %v %v", paid, err)
		}
		paid.Body.Close()
		storetest.Until(t, "Pro", func() bool { _, limit, _ := call(t, p.base, key); return limit == "10000" })
		if code := p.stop(t); code != 0 {
			t.Fatalf("exit code %d\n%s", code, p.stderr)
		}
	}
}

// The stand-in for Stripe listens on the port after the demo's, or on any if that is taken.
func TestListenBeside(t *testing.T) {
	t.Parallel()
	taken, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	after := taken.Addr().(*net.TCPAddr).Port
	port := func(demo int) int {
		listener, err := listenBeside(t.Context(), fmt.Sprintf("127.0.0.1:%d", demo))
		if err != nil {
			t.Fatal(err)
		}
		defer listener.Close()
		return listener.Addr().(*net.TCPAddr).Port
	}
	if got := port(after - 1); got == after || got == 0 {
		t.Errorf("it listens on %d, which is taken", got)
	}
	if got := port(65535); got == 0 {
		t.Errorf("it listens on %d", got)
	}
	taken.Close()
	if got := port(after - 1); got != after {
		t.Errorf("it listens on %d instead of %d", got, after)
	}
}
