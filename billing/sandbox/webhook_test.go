package sandbox_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stripe/stripe-go/v76"
	"github.com/stripe/stripe-go/v76/webhook"

	"lottery/billing/sandbox"
	"lottery/models/store/storetest"
)

func TestRetrySchedule(t *testing.T) {
	t.Parallel()
	b := open(t).listens()
	b.hook.set(func() { b.hook.status = http.StatusInternalServerError })
	start := b.Now()
	b.customer()
	b.quiesce()
	var waits []time.Duration
	for {
		d := b.Events()[0].Deliveries[0]
		if d.State != "pending" {
			break
		}
		last := time.Unix(d.Attempts[len(d.Attempts)-1].At, 0)
		waits = append(waits, d.Next.Sub(last))
		b.Advance(d.Next.Sub(b.Now()) - time.Second)
		b.quiesce()
		if n := len(b.Events()[0].Deliveries[0].Attempts); n != len(waits) {
			t.Fatalf("attempt %d came early", n)
		}
		b.Advance(time.Second)
		b.quiesce()
	}
	h := time.Hour
	want := []time.Duration{5 * time.Minute, 30 * time.Minute, 2 * h, 5 * h, 10 * h, 12 * h, 12 * h, 12 * h, 12 * h}
	if !slices.Equal(waits, want) {
		t.Errorf("%v", waits)
	}
	if d := b.Events()[0].Deliveries[0]; d.State != "failed" || b.Now().Sub(start) > 72*h || d.Attempts[0].Status != 500 {
		t.Errorf("%+v", d)
	}
}

func TestRetrySucceeds(t *testing.T) {
	t.Parallel()
	b := open(t).listens()
	b.hook.set(func() { b.hook.status = http.StatusMovedPermanently })
	id := b.customer()
	b.quiesce()
	first := b.hook.got[0]
	b.hook.set(func() { b.hook.status = http.StatusNoContent })
	b.Advance(5 * time.Minute)
	b.quiesce()
	if d := b.Events()[0].Deliveries[0]; d.State != "delivered" || len(d.Attempts) != 2 || b.hook.got[1].ID != first.ID || first.Data.Object["id"] != id {
		t.Errorf("%+v", d)
	}
	if first.PendingWebhooks != 1 || first.Livemode || first.APIVersion != pinned {
		t.Errorf("%+v", first)
	}
}

func TestEndpoints(t *testing.T) {
	t.Parallel()
	b := open(t).listens()
	must(b.API.WebhookEndpoints.Update(b.secret, &stripe.WebhookEndpointParams{EnabledEvents: stripe.StringSlice([]string{"customer.deleted"})}))(t)
	id := b.customer()
	b.must(b.DeleteCustomer(id))
	b.quiesce()
	if !slices.Equal(b.hook.types(), []string{"customer.deleted"}) {
		t.Error(b.hook.types())
	}
	must(b.API.WebhookEndpoints.Update(b.secret, &stripe.WebhookEndpointParams{Disabled: new(true)}))(t)
	b.must(b.DeleteCustomer(b.customer()))
	b.quiesce()
	if len(b.hook.types()) != 1 {
		t.Error("a disabled endpoint got an event")
	}
}

func TestRollSecret(t *testing.T) {
	t.Parallel()
	b := open(t).listens()
	b.hook.badAllowed = true
	old := b.hook.secret
	secret, err := b.RollSecret(b.secret, time.Hour)
	b.must(err)
	b.customer()
	b.quiesce()
	body, sig := b.hook.bodies[0], b.hook.sigs[0]
	for _, s := range []string{old, secret} {
		if _, err := webhook.ConstructEvent([]byte(body), sig, s); err != nil {
			t.Errorf("%s: %v", sig, err)
		}
	}
	if strings.Count(sig, "v1=") != 2 {
		t.Error(sig)
	}
	b.Advance(time.Hour)
	b.customer()
	b.quiesce()
	if strings.Count(b.hook.sigs[1], "v1=") != 1 || len(b.hook.bad) != 1 {
		t.Error("the old secret signs for ever", b.hook.sigs)
	}
	if got := sandbox.Sign([]byte(body), time.Now(), secret); webhook.ValidatePayload([]byte(body), got, secret) != nil {
		t.Error(got)
	}
}

func TestDeliveryFaults(t *testing.T) {
	t.Parallel()
	b := open(t).listens()
	b.FaultDelivery(sandbox.DeliveryFault{Action: sandbox.Drop, Type: "customer.created", Times: 1})
	b.FaultDelivery(sandbox.DeliveryFault{Action: sandbox.Duplicate, Copies: 3, Times: 1})
	b.FaultDelivery(sandbox.DeliveryFault{Action: sandbox.DelayDelivery, Delay: time.Minute, Times: 1})
	b.customer() // dropped
	b.quiesce()
	if len(b.hook.types()) != 0 || b.Events()[0].Deliveries[0].State != "dropped" {
		t.Error("not dropped")
	}
	b.customer() // three times
	b.quiesce()
	if len(b.hook.types()) != 3 || b.hook.got[0].ID != b.hook.got[2].ID {
		t.Error("not three times", b.hook.types())
	}
	b.hook.forget()
	b.customer() // a minute later
	b.quiesce()
	b.Advance(59 * time.Second)
	b.quiesce()
	early := len(b.hook.types())
	b.Advance(time.Second)
	b.quiesce()
	if early != 0 || len(b.hook.types()) != 1 {
		t.Error("not a minute later")
	}
}

func TestDuplicatesAtOnce(t *testing.T) {
	t.Parallel()
	b := open(t).listens()
	hold := make(chan struct{})
	b.hook.set(func() { b.hook.wait = hold })
	b.FaultDelivery(sandbox.DeliveryFault{Action: sandbox.Duplicate, Copies: 5, AtOnce: true})
	b.customer()
	storetest.Until(t, "five copies at once", func() bool {
		n := 0
		b.hook.set(func() { n = b.hook.open })
		return n == 5
	})
	close(hold)
	b.quiesce()
	if b.hook.most != 5 {
		t.Error(b.hook.most)
	}
}

func TestRelease(t *testing.T) {
	t.Parallel()
	for order, want := range map[string][]string{
		sandbox.OrderSent: {"0", "1", "2", "3", "4", "5", "6", "7"}, sandbox.OrderReversed: {"7", "6", "5", "4", "3", "2", "1", "0"}, sandbox.OrderRandom: nil,
	} {
		b := open(t).listens()
		b.FaultDelivery(sandbox.DeliveryFault{Action: sandbox.Hold})
		for i := range 8 {
			must(b.API.Customers.New(&stripe.CustomerParams{Name: new(fmt.Sprint(i))}))(t)
		}
		b.quiesce()
		b.Advance(day)
		b.quiesce()
		if len(b.hook.types()) != 0 {
			t.Error("not held")
		}
		n, err := b.Release(context.Background(), order)
		b.must(err)
		var names []string
		for _, e := range b.hook.got {
			names = append(names, e.Data.Object["name"].(string))
		}
		if sorted := slices.Sorted(slices.Values(names)); n != 8 || want != nil && !slices.Equal(names, want) || want == nil && (slices.Equal(names, sorted) || len(names) != 8) {
			t.Errorf("%s: %v", order, names)
		}
	}
}

func TestEventFaults(t *testing.T) {
	t.Parallel()
	b := open(t).sells().listens()
	b.SkipEvents("customer.*")
	b.customer()
	b.quiesce()
	if len(b.hook.types()) != 0 {
		t.Error("not skipped")
	}
	count(t, b.API.Events.List(&stripe.EventListParams{Type: new("customer.created")}), 0)
	b.ClearFaults()
	b.SetEventVersion(sandbox.NewVersion)
	_, sub := b.pro(sandbox.CardOK)
	b.quiesce()
	for _, e := range b.hook.got {
		if e.APIVersion != sandbox.NewVersion {
			t.Error(e.APIVersion)
		}
		switch e.Type {
		case "customer.subscription.updated":
			var s stripe.Subscription
			b.must(json.Unmarshal(e.Data.Raw, &s))
			if s.ID != sub || s.CurrentPeriodEnd != 0 || s.Status != "active" {
				t.Errorf("%+v", s)
			}
		case "invoice.paid":
			var i stripe.Invoice
			b.must(json.Unmarshal(e.Data.Raw, &i))
			if i.Subscription != nil || !strings.Contains(string(e.Data.Raw), sub) {
				t.Errorf("%+v", i)
			}
		}
	}
	b.SetEventVersion("")
	b.ClearFaults()
	b.hush()
	b.must(b.CancelAtPeriodEnd(sub, true))
	events := b.Events()
	stale := events[len(events)-1].ID
	b.must(b.Cancel(sub))
	b.must(b.Resend(stale, ""))
	b.must(b.Resend(stale, b.secret))
	b.quiesce()
	if !slices.Equal(b.hook.types(), []string{"customer.subscription.updated", "customer.subscription.deleted", "customer.subscription.updated", "customer.subscription.updated"}) {
		t.Error(b.hook.types())
	}
	if b.hook.got[2].ID != stale || b.hook.got[2].Data.Object["status"] != "active" {
		t.Errorf("%+v", b.hook.got[2])
	}
}
