package sandbox_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stripe/stripe-go/v76"

	"lottery/billing/sandbox"
	"lottery/models/store/storetest"
)

// TestRestart closes a sandbox in the middle of everything and continues with a new one.
func TestRestart(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "sandbox.json")
	kept := func(o *sandbox.Options) { o.File = file }
	a := open(t, kept).sells().listens()
	a.SetDunning(sandbox.Dunning{Retries: []time.Duration{day}, End: "unpaid"})
	a.hook.set(func() { a.hook.status = http.StatusServiceUnavailable })
	customer, sub := a.pro(sandbox.CardFailsLater)
	later, _ := a.pro(sandbox.BankPays)
	opened := a.checkout(customer)
	key := &stripe.CustomerParams{}
	key.SetIdempotencyKey("once")
	made := must(a.API.Customers.New(key))(t)
	a.Advance(12 * time.Hour)
	portal := a.portal(customer, a.configuration("at_period_end").ID)
	a.SetEventVersion(sandbox.NewVersion)
	a.quiesce()
	a.must(a.Close(context.Background()))
	info, err := os.Stat(file)
	a.must(err)
	if info.Mode().Perm() != 0o600 {
		t.Error(info.Mode())
	}

	b := open(t, kept, func(o *sandbox.Options) { o.Now, o.Seed = a.clock.Now, 0 })
	b.clock, b.price = a.clock, a.price
	if got, want := fmt.Sprint(b.Subscriptions("")), fmt.Sprint(a.Subscriptions("")); got != want {
		t.Errorf("%s, was %s", got, want)
	}
	if !b.Now().Equal(a.Now()) {
		t.Error(a.Now(), b.Now())
	}
	if got := must(b.API.Customers.New(key))(t); got.ID != made.ID {
		t.Error("the idempotency key is forgotten")
	}
	if status, text := b.get(strings.Replace(portal.URL, a.URL, b.URL, 1)); status != http.StatusOK || !strings.Contains(text, sub) {
		t.Errorf("the portal that was open before: %d %s", status, text)
	}
	a.hook.set(func() { a.hook.status = http.StatusOK; a.hook.got = nil })
	b.Advance(6 * time.Hour) // webhooks that failed before the restart
	b.quiesce()
	if len(a.hook.types()) == 0 {
		t.Error("no redelivery after the restart")
	}
	b.customer()
	b.quiesce()
	a.hook.set(func() {
		if e := a.hook.got[len(a.hook.got)-1]; e.Type != "customer.created" || e.APIVersion != sandbox.NewVersion {
			t.Errorf("the version of events is forgotten: %s %s", e.Type, e.APIVersion)
		}
	})
	b.Advance(4 * day)
	if got := b.Subscriptions(later)[0]; got.Status != "active" {
		t.Errorf("%+v", got)
	}
	if got := must(b.API.CheckoutSessions.Get(opened.ID, nil))(t); got.Status != "expired" {
		t.Errorf("%+v", got)
	}
	b.Advance(30 * day)
	b.want(sub, "unpaid")
	b.quiesce()
}

// TestFileFollows shows that the file is updated without Close, that a broken one is refused, and that no id comes
// again.
func TestFileFollows(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "sandbox.json")
	b := open(t, func(o *sandbox.Options) { o.File = file })
	id := b.customer()
	var text []byte
	storetest.Until(t, "the customer to be stored", func() bool {
		var err error
		text, err = os.ReadFile(file)
		return err == nil && strings.Contains(string(text), id)
	})
	if !json.Valid(text) {
		t.Fatal(string(text))
	}
	broken := filepath.Join(t.TempDir(), "broken.json")
	b.must(os.WriteFile(broken, text[:len(text)/2], 0o600))
	if _, err := sandbox.New(sandbox.Options{File: broken}); err == nil {
		t.Error("half a file was taken")
	}
	b.must(b.Close(context.Background()))
	if again := open(t, func(o *sandbox.Options) { o.File = file }).customer(); again == id {
		t.Error("an id came twice")
	}
}

// TestRealClock shows that with a real clock, what falls due happens by itself.
func TestRealClock(t *testing.T) {
	t.Parallel()
	b := open(t, func(o *sandbox.Options) { o.Now = nil }).listens()
	b.FaultDelivery(sandbox.DeliveryFault{Action: sandbox.DelayDelivery, Delay: time.Second})
	b.customer()
	storetest.Until(t, "the delayed event", func() bool { return len(b.hook.types()) == 1 })
}

// TestCheap shows that sandboxes leave no goroutines behind.
func TestCheap(t *testing.T) { //nolint:paralleltest // it counts goroutines
	before := runtime.NumGoroutine()
	for range 200 {
		s, err := sandbox.New(sandbox.Options{Seed: 1, Client: &http.Client{Transport: fails{}}})
		if err != nil {
			t.Fatal(err)
		}
		c := http.Client{Transport: s.Transport()}
		req, _ := http.NewRequest(http.MethodPost, "http://x/v1/webhook_endpoints", strings.NewReader("url=http://x&enabled_events[]=*"))
		req.Header.Set("Authorization", "Bearer "+sandbox.DefaultKey)
		resp, err := c.Do(req)
		if err != nil || resp.StatusCode != 200 {
			t.Fatal(resp, err)
		}
		req, _ = http.NewRequest(http.MethodPost, "http://x/v1/customers", strings.NewReader("email=a@b.example"))
		req.Header.Set("Authorization", "Bearer "+sandbox.DefaultKey)
		if resp, err := c.Do(req); err != nil || resp.StatusCode != 200 {
			t.Fatal(resp, err)
		}
		if err := s.Close(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	storetest.Until(t, "the goroutines to end", func() bool { return runtime.NumGoroutine() <= before })
}

// fails is a network that is down.
type fails struct{}

func (fails) RoundTrip(r *http.Request) (*http.Response, error) {
	return nil, fmt.Errorf("no network to %s", r.URL.Host)
}
