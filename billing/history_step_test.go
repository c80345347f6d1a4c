package billing_test

import (
	"context"
	"net/http"
	"net/url"
	"runtime"
	"sync"
	"time"

	"pgregory.net/rapid"

	"lottery/billing/sandbox"
	"lottery/models"
)

// killed runs the work of a process that dies in the middle: its last request is either sent or not; nothing after it
// happens, no lock is released, nothing is stored.
func (h *history) killed(work func()) {
	h.doom.Store(int64(rapid.IntRange(1, 6).Draw(h.rt, "requests before death")))
	h.after = rapid.Bool().Draw(h.rt, "after the last")
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		work()
	}()
	<-ended
	if h.doom.Swap(0) <= 0 {
		h.seen.Deaths++
	}
	h.unlock()
	h.serve()
}

// mortal is the transport of a process that may die.
func (h *history) mortal(r *http.Request) (*http.Response, error) {
	dies := h.doom.Load() > 0 && h.doom.Add(-1) == 0
	if !dies || h.after {
		res, err := h.stripe.Transport().RoundTrip(r)
		if !dies {
			return res, err
		}
	}
	h.unlock() // the process's other goroutines survive here and must not wait for it
	runtime.Goexit()
	return nil, nil //nolint:nilnil // never reached
}

// step does one random thing. Errors are what people and programs see of faults: the story goes on.
func (h *history) step() {
	kind := rapid.SampledFrom([]string{
		"buy", "buy", "buy", "checkout", "checkout", "pay", "pay", "again", "direct", "double", "double", "past due", "past due", "renew", "card", "retry", "status", "settle", "cancel", "at end", "undo",
		"refund", "dispute", "price", "price back", "delete", "stray", "close", "grant", "take back", "email", "advance", "advance", "advance far",
		"api fault", "api fault", "lose", "repeat", "hold", "release", "delay", "clear", "work", "work", "work", "two nodes", "crash", "kill", "kill", "kill checkout", "end", "later", "sync", "return", "portal",
	}).Draw(h.rt, "step")
	cards := []sandbox.Card{sandbox.CardOK, sandbox.CardOK, sandbox.CardDeclined, sandbox.CardFailsLater, sandbox.BankPays, sandbox.BankFails}
	card := func() sandbox.Card { return rapid.SampledFrom(cards).Draw(h.rt, "card") }
	sub := func() string { return h.some() }
	switch kind {
	case "checkout", "again":
		_, _ = h.billing.Checkout(h.ctx, h.account.ID)
	case "pay":
		for _, s := range h.stripe.Sessions("") {
			if s.Status == "open" {
				_, _, _ = h.stripe.Pay(s.ID, card())
				break
			}
		}
	case "buy":
		if s, err := h.billing.Checkout(h.ctx, h.account.ID); err == nil {
			_, _, _ = h.stripe.Pay(s.ID, rapid.SampledFrom([]sandbox.Card{sandbox.CardOK, sandbox.CardOK, sandbox.CardFailsLater, sandbox.BankPays}).Draw(h.rt, "card"))
		}
	case "double":
		if cus := h.customer(); cus != "" {
			for range 2 {
				h.stripe.Advance(time.Second)
				_, _ = h.stripe.NewSubscription(cus, h.price, "active", nil)
			}
		}
	case "past due":
		if cus := h.customer(); cus != "" {
			_ = h.stripe.SetCard(cus, sandbox.CardDeclined)
			_ = h.stripe.Renew(sub())
		}
	case "stray":
		h.stripe.ClearFaults() // the dashboard is not under test
		var made struct{ ID string }
		h.read(http.MethodPost, "/v1/customers", url.Values{"metadata[lottery_account]": {h.account.ID}, "metadata[stray]": {"1"}}, &made)
		_, _ = h.stripe.NewSubscription(made.ID, h.price, "active", nil)
	case "close":
		if rapid.IntRange(0, 3).Draw(h.rt, "really") == 0 {
			_, _ = h.billing.End(h.ctx, h.account.ID, cause())
			_, _ = h.store.DeleteAccount(h.ctx, h.account.ID)
		}
	case "direct":
		if cus := h.customer(); cus != "" {
			_, _ = h.stripe.NewSubscription(cus, h.price, rapid.SampledFrom([]string{"active", "trialing", "past_due", "canceled", "incomplete"}).Draw(h.rt, "status"), nil)
		}
	case "renew":
		_ = h.stripe.Renew(sub())
	case "card":
		if cus := h.customer(); cus != "" {
			_ = h.stripe.SetCard(cus, card())
		}
	case "retry":
		_ = h.stripe.RetryPayment(sub())
	case "status":
		_ = h.stripe.SetStatus(sub(), rapid.SampledFrom([]string{"active", "trialing", "past_due", "unpaid", "paused", "canceled"}).Draw(h.rt, "status"))
	case "settle":
		_ = h.stripe.Settle(sub(), rapid.Bool().Draw(h.rt, "paid"))
	case "cancel":
		_ = h.stripe.Cancel(sub())
	case "at end", "undo":
		_ = h.stripe.CancelAtPeriodEnd(sub(), kind == "at end")
	case "refund":
		_ = h.stripe.Refund(sub(), 500)
	case "dispute":
		_, _ = h.stripe.Dispute(sub(), rapid.Bool().Draw(h.rt, "inquiry"))
	case "price":
		_ = h.stripe.SetPrice(sub(), h.other)
	case "price back":
		_ = h.stripe.SetPrice(sub(), h.price)
	case "delete":
		if cus := h.customer(); cus != "" && rapid.Bool().Draw(h.rt, "really") {
			_ = h.stripe.DeleteCustomer(cus)
		}
	case "grant", "take back":
		grant := new(models.PlanPro)
		if h.granted = kind == "grant"; !h.granted {
			grant = nil
		}
		if _, err := h.store.GrantPlan(h.ctx, h.account.ID, grant); models.ErrorCode(err) != models.CodeNotFound { // deleted
			h.must(err)
		}
	case "email":
		if cus := h.customer(); cus != "" {
			_ = h.stripe.SetEmail(cus, "new@example.com")
		}
	case "advance":
		h.stripe.Advance(time.Duration(rapid.IntRange(1, 96).Draw(h.rt, "hours")) * time.Hour)
	case "advance far":
		h.stripe.Advance(time.Duration(rapid.IntRange(5, 40).Draw(h.rt, "days")) * day)
	case "api fault":
		h.stripe.FaultAPI(sandbox.APIFault{
			Action: rapid.SampledFrom([]sandbox.Action{sandbox.RateLimit, sandbox.ServerError, sandbox.ErrorAfter, sandbox.ErrorStays, sandbox.LoseReply, sandbox.Withhold}).Draw(h.rt, "fault"),
			Method: rapid.SampledFrom([]string{"", http.MethodGet, http.MethodPost}).Draw(h.rt, "method"),
			Times:  rapid.IntRange(1, 3).Draw(h.rt, "times"),
		})
	case "lose":
		h.stripe.FaultDelivery(sandbox.DeliveryFault{Action: sandbox.Drop, Times: rapid.IntRange(1, 4).Draw(h.rt, "times")})
	case "repeat":
		h.stripe.FaultDelivery(sandbox.DeliveryFault{Action: sandbox.Duplicate, Copies: 3, AtOnce: rapid.Bool().Draw(h.rt, "at once"), Times: 3})
	case "hold":
		h.stripe.FaultDelivery(sandbox.DeliveryFault{Action: sandbox.Hold, Times: rapid.IntRange(1, 6).Draw(h.rt, "times")})
	case "delay":
		h.stripe.FaultDelivery(sandbox.DeliveryFault{Action: sandbox.DelayDelivery, Delay: 50 * time.Hour, Times: 2})
	case "release":
		_, _ = h.stripe.Release(h.ctx, rapid.SampledFrom([]string{sandbox.OrderSent, sandbox.OrderReversed, sandbox.OrderRandom}).Draw(h.rt, "order"))
	case "clear":
		h.stripe.ClearFaults()
	case "work":
		_ = h.stripe.Quiesce(h.ctx)
		_, _ = h.billing.Work(h.ctx)
	case "crash":
		ctx, cancel := context.WithTimeout(h.ctx, time.Duration(rapid.IntRange(0, 3000).Draw(h.rt, "microseconds"))*time.Microsecond)
		_, _ = h.billing.Work(ctx)
		cancel()
		h.serve()
	case "kill":
		_ = h.stripe.Quiesce(h.ctx)
		h.killed(func() { _, _ = h.billing.Work(h.ctx) })
	case "kill checkout":
		h.killed(func() { _, _ = h.billing.Checkout(h.ctx, h.account.ID) })
	case "two nodes":
		_ = h.stripe.Quiesce(h.ctx)
		first := h.billing
		h.serve()
		second := h.billing
		var both sync.WaitGroup
		both.Go(func() { _, _ = first.Work(h.ctx) })
		both.Go(func() { _, _ = second.Work(h.ctx) })
		both.Go(func() { _, _ = second.Sync(h.ctx, h.account.ID, cause()) })
		both.Wait()
	case "end":
		_, _ = h.billing.End(h.ctx, h.account.ID, cause())
	case "later":
		h.offset.Add(int64(time.Duration(rapid.IntRange(1, 900).Draw(h.rt, "seconds")) * time.Second))
	case "sync":
		_, _ = h.billing.Sync(h.ctx, h.account.ID, cause())
	case "return":
		for _, s := range h.stripe.Sessions("") {
			_, _, _ = h.billing.Return(h.ctx, h.account.ID, s.ID)
			break
		}
	case "portal":
		_, _ = h.billing.Portal(h.ctx, h.account.ID)
	}
}
