package billing_test

import (
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"lottery/billing"
	"lottery/billing/sandbox"
	"lottery/configs"
	"lottery/models"
)

// The rows of the table of billing's faults, by their numbers.

func TestFault01SameEventTwice(t *testing.T) {
	each(t, func(w *world) {
		t := w.t
		_ = t
		w.pro()
		before := len(w.events())
		endpoint := w.endpoint()
		for _, kind := range []string{"customer.subscription.created", "checkout.session.completed", "invoice.paid"} {
			w.must(w.stripe.Resend(w.event(kind), endpoint))
		}
		w.settle()
		w.wantPlan(models.PlanPro)
		w.wantMails(models.MailWelcomePro)
		if after := len(w.events()); after != before {
			t.Errorf("%d inbox rows became %d", before, after)
		}
		if changes, err := w.store.AuditOf(t.Context(), w.account.ID, 10); err != nil || len(changes) != 1 {
			t.Errorf("%v %+v", err, changes)
		}
	})
}

// endpoint is the id of our webhook endpoint at Stripe.
func (w *world) endpoint() string {
	w.t.Helper()
	done, err := w.billing.Setup(w.t.Context())
	w.must(err)
	return done.Steps[2].ID
}

func TestFault02SameEventManyTimesAtOnce(t *testing.T) {
	each(t, func(w *world) {
		t := w.t
		_ = t
		w.checkout()
		text := body("evt_many", "customer.subscription.updated", `{"id":"sub_x","object":"subscription","customer":"`+w.customer()+`"}`)
		var wg sync.WaitGroup
		for range 50 {
			wg.Go(func() {
				if status := w.post(text, time.Now(), w.secret); status != http.StatusOK {
					t.Errorf("status %d", status)
				}
			})
		}
		wg.Wait()
		n := 0
		for _, e := range w.events() {
			if e.ID == "evt_many" {
				n++
			}
		}
		if n != 1 {
			t.Errorf("%d inbox rows", n)
		}
	})
}

// reordered lets a story happen while its webhooks are held, and sends them in the other order.
func (w *world) reordered(order string, story func()) {
	w.t.Helper()
	w.stripe.FaultDelivery(sandbox.DeliveryFault{Action: sandbox.Hold})
	story()
	w.stripe.ClearFaults()
	_, err := w.stripe.Release(w.t.Context(), order)
	w.must(err)
	w.settle()
}

func TestFault03UpdatedBeforeCreated(t *testing.T) {
	each(t, func(w *world) {
		t := w.t
		_ = t
		w.reordered(sandbox.OrderReversed, func() { w.buy(sandbox.CardOK) })
		w.wantPlan(models.PlanPro)
		w.wantMails(models.MailWelcomePro)
	})
}

func TestFault04CreatedAndUpdatedAtOnce(t *testing.T) {
	each(t, func(w *world) {
		t := w.t
		_ = t
		w.stripe.FaultDelivery(sandbox.DeliveryFault{Action: sandbox.Duplicate, Copies: 5, AtOnce: true})
		w.stripe.FaultAPI(sandbox.APIFault{Action: sandbox.DelayReply, Path: "/v1/subscriptions*", Delay: 20 * time.Millisecond})
		w.buy(sandbox.CardOK)
		w.settle()
		w.wantPlan(models.PlanPro)
		w.wantMails(models.MailWelcomePro)
	})
}

func TestFault05DeletedThenStaleUpdate(t *testing.T) {
	each(t, func(w *world) {
		t := w.t
		_ = t
		sub := w.pro()
		stale := w.event("customer.subscription.created")
		w.must(w.stripe.Cancel(sub))
		w.settle()
		w.wantPlan(models.PlanFree)
		_, err := w.store.RetryEvent(t.Context(), stale)
		w.must(err)
		text := body("evt_stale", "customer.subscription.updated",
			`{"id":"`+sub+`","object":"subscription","status":"active","customer":"`+w.customer()+`"}`)
		if status := w.post(text, time.Now(), w.secret); status != http.StatusOK {
			t.Errorf("status %d", status)
		}
		w.settle()
		w.wantPlan(models.PlanFree)
	})
}

func TestFault06DeletedThenLateCheckoutCompleted(t *testing.T) {
	each(t, func(w *world) {
		t := w.t
		_ = t
		w.reordered(sandbox.OrderReversed, func() {
			w.buy(sandbox.CardOK)
			w.must(w.stripe.Cancel(w.onlySubscription()))
		})
		w.wantPlan(models.PlanFree)
		for _, e := range w.events() {
			if e.State != models.EventDone && e.State != models.EventIgnored {
				t.Errorf("%+v", e)
			}
		}
	})
}

func TestFault17EventForUnknownCustomer(t *testing.T) {
	each(t, func(w *world) {
		t := w.t
		_ = t
		text := body("evt_unknown", "customer.subscription.updated", `{"id":"sub_x","object":"subscription","customer":"cus_nobody"}`)
		if status := w.post(text, time.Now(), w.secret); status != http.StatusOK {
			t.Errorf("status %d", status)
		}
		w.settle()
		if list := w.events(); len(list) != 1 || list[0].State != models.EventDone || list[0].AccountID != "" {
			t.Errorf("%+v", list)
		}
	})
}

func TestFault18EventWithoutOurMetadata(t *testing.T) {
	each(t, func(w *world) {
		t := w.t
		_ = t
		cus := w.foreignCustomer(nil)
		_, err := w.stripe.NewSubscription(cus, w.price, "active", nil)
		w.must(err)
		w.settle()
		w.wantPlan(models.PlanFree)
		for _, e := range w.events() {
			if e.State != models.EventDone || e.Attempts != 1 {
				t.Errorf("%+v", e)
			}
		}
	})
}

func TestFault19UnhandledType(t *testing.T) {
	each(t, func(w *world) {
		t := w.t
		_ = t
		if status := w.post(body("evt_other", "payout.paid", `{"id":"po_1","object":"payout"}`), time.Now(), w.secret); status != http.StatusOK {
			t.Errorf("status %d", status)
		}
		if list := w.events(); len(list) != 1 || list[0].State != models.EventIgnored {
			t.Errorf("%+v", list)
		}
	})
}

func TestFault21ObjectIsGoneWhenFetched(t *testing.T) {
	each(t, func(w *world) {
		t := w.t
		_ = t
		w.pro()
		for i, text := range []string{
			body("evt_gone1", "charge.refunded", `{"id":"ch_gone","object":"charge","customer":"`+w.customer()+`"}`),
			body("evt_gone2", "charge.dispute.created", `{"id":"dp_gone","object":"dispute","charge":"ch_gone"}`),
			body("evt_gone3", "checkout.session.completed", `{"id":"cs_gone","object":"checkout.session","customer":"cus_gone"}`),
		} {
			if status := w.post(text, time.Now(), w.secret); status != http.StatusOK {
				t.Errorf("%d: status %d", i, status)
			}
		}
		w.settle()
		for _, e := range w.events() {
			if e.State != models.EventDone || e.Attempts != 1 {
				t.Errorf("%+v", e)
			}
		}
		w.wantPlan(models.PlanPro)
		w.wantFlags()
	})
}

func TestFault22NewerAPIShape(t *testing.T) {
	each(t, func(w *world) {
		t := w.t
		_ = t
		w.stripe.SetEventVersion(sandbox.NewVersion)
		sub := w.pro()
		w.must(w.stripe.SetCard(w.customer(), sandbox.CardDeclined))
		w.must(w.stripe.Renew(sub))
		w.settle()
		w.wantPlan(models.PlanPro)
		w.wantMails(models.MailWelcomePro, models.MailPaymentFailed)
		b, err := w.store.BillingAccount(t.Context(), w.account.ID)
		w.must(err)
		if b.PeriodEnd == nil || b.PeriodEnd.Year() < 2026 {
			t.Errorf("the period ends %v", b.PeriodEnd)
		}
	})
}

func TestFault23PeriodEndMissing(t *testing.T) {
	each(t, func(w *world) {
		t := w.t
		_ = t
		w.stripe.FaultAPI(sandbox.APIFault{Action: sandbox.NewShape, Path: "/v1/subscriptions*"}) // v76 reads 0 there
		w.buy(sandbox.CardOK)
		w.settle()
		w.wantPlan(models.PlanPro)
		b, err := w.store.BillingAccount(t.Context(), w.account.ID)
		w.must(err)
		if b.PeriodEnd != nil {
			t.Errorf("the period ends %v", b.PeriodEnd)
		}
	})
}

func TestFault24WrongMode(t *testing.T) {
	each(t, func(w *world) {
		t := w.t
		_ = t
		w.pro()
		text := body("evt_live", "customer.subscription.deleted", `{"id":"sub_x","object":"subscription","customer":"`+w.customer()+`"}`)
		text = strings.Replace(text, `"livemode":false`, `"livemode":true`, 1)
		if status := w.post(text, time.Now(), w.secret); status != http.StatusOK {
			t.Errorf("status %d", status)
		}
		w.settle()
		w.wantPlan(models.PlanPro)
		w.wantFlags(models.FlagWrongMode)
		if list := w.events(); list[0].ID != "evt_live" || list[0].State != models.EventIgnored {
			t.Errorf("%+v", list[0])
		}
	})
}

// The other way round: a test event at a live server.
func TestFault24TestEventAtALiveServer(t *testing.T) {
	each(t, func(w *world) {
		t := w.t
		_ = t
		w.kill()
		w.cfg = configs.Stripe{SecretKey: "sk_live_x", WebhookSecrets: []string{"whsec_x"}}
		hook := w.service().Webhook()
		w.handler.Store(&hook)
		if status := w.post(body("evt_test", "invoice.paid", `{"id":"in_1","object":"invoice","customer":"cus_1"}`), time.Now(), "whsec_x"); status != http.StatusOK {
			t.Errorf("status %d", status)
		}
		if list := w.events(); len(list) != 1 || list[0].State != models.EventIgnored {
			t.Errorf("%+v", list)
		}
	})
}

func TestFault26Signatures(t *testing.T) {
	each(t, func(w *world) {
		t := w.t
		_ = t
		text := body("evt_signed", "invoice.paid", `{"id":"in_1","object":"invoice","customer":"cus_1"}`)
		now := time.Now()
		good := sandbox.Sign([]byte(text), now, w.secret)
		for name, signature := range map[string]string{
			"none": "", "of another secret": sandbox.Sign([]byte(text), now, "whsec_other"), "of another body": sandbox.Sign([]byte(text+" "), now, w.secret),
			"old": sandbox.Sign([]byte(text), now.Add(-302*time.Second), w.secret), "from the future": sandbox.Sign([]byte(text), now.Add(302*time.Second), w.secret),
			"without a time": good[strings.Index(good, ",")+1:], "of an empty secret": sandbox.Sign([]byte(text), now, ""), "not hexadecimal": "t=1,v1=zz", "cut": good[:len(good)-2],
			"another time than signed": strings.Replace(good, "t=", "t=1", 1),
		} {
			if status := w.send(text, signature); status != http.StatusBadRequest {
				t.Errorf("%s: status %d", name, status)
			}
		}
		if list := w.events(); len(list) != 0 {
			t.Errorf("%+v", list)
		}
		if status := w.send(text, sandbox.Sign([]byte(text), now.Add(-295*time.Second), w.secret)); status != http.StatusOK {
			t.Errorf("295 s old: status %d", status)
		}
	})
}

func TestFault27SecretBeingRotated(t *testing.T) {
	each(t, func(w *world) {
		t := w.t
		_ = t
		w.kill()
		fresh, err := w.stripe.RollSecret(w.endpoint(), time.Hour)
		w.must(err)
		for _, configured := range [][]string{{w.secret, fresh}, {fresh}, {w.secret}} { // both signatures are sent
			w.cfg.WebhookSecrets = configured
			w.start()
			before := len(w.events())
			w.account = w.newAccount()
			w.buy(sandbox.CardOK)
			w.settle()
			w.wantPlan(models.PlanPro)
			if len(w.events()) == before {
				t.Errorf("%d secrets: no event was taken", len(configured))
			}
			w.kill()
		}
	})
}

func TestFault28BodyAlteredOrHuge(t *testing.T) {
	each(t, func(w *world) {
		t := w.t
		_ = t
		text := body("evt_altered", "invoice.paid", `{"id":"in_1","object":"invoice","customer":"cus_1"}`)
		signature := sandbox.Sign([]byte(text), time.Now(), w.secret)
		if status := w.send(strings.Replace(text, "cus_1", "cus_2", 1), signature); status != http.StatusBadRequest {
			t.Errorf("altered: status %d", status)
		}
		huge := body("evt_huge", "invoice.paid", `{"id":"`+strings.Repeat("x", 10<<20)+`"}`)
		if status := w.post(huge, time.Now(), w.secret); status != http.StatusRequestEntityTooLarge && status != 0 { // 0: cut off while sending
			t.Errorf("10 MB: status %d", status)
		}
		for _, odd := range []string{`[]`, `null`, `{}`, `{"object":"event"}`, `{"id":"evt_1","object":"event","type":5}`, "\xff"} {
			if status := w.post(odd, time.Now(), w.secret); status != http.StatusBadRequest {
				t.Errorf("%q: status %d", odd, status)
			}
		}
		if list := w.events(); len(list) != 0 {
			t.Errorf("%+v", list)
		}
	})
}

// Whatever a genuine event holds where the customer should be, it is taken and worked off.
func TestEventsWithOddCustomers(t *testing.T) {
	each(t, func(w *world) {
		t := w.t
		_ = t
		for i, customer := range []string{`null`, `""`, `"cus_none"`, `{"id":"cus_none"}`, `{}`, `[]`, `5`, `true`} {
			id := "evt_odd" + string(rune('a'+i))
			if status := w.post(body(id, "invoice.paid", `{"id":"in_1","object":"invoice","customer":`+customer+`}`), time.Now(), w.secret); status != http.StatusOK {
				t.Errorf("%s: status %d", customer, status)
			}
		}
		w.settle()
	})
}

func TestFault30StripeIsAway(t *testing.T) {
	each(t, func(w *world) {
		t := w.t
		_ = t
		for _, action := range []sandbox.Action{sandbox.RateLimit, sandbox.ServerError} {
			w.account = w.newAccount()
			session := w.checkout()
			w.stripe.FaultAPI(sandbox.APIFault{Action: action, Method: http.MethodGet, Often: sandbox.Often{Times: 3}})
			_, _, err := w.stripe.Pay(session, sandbox.CardOK)
			w.must(err)
			w.settle()
			w.wantPlan(models.PlanPro)
		}
		retried := false
		for _, e := range w.events() {
			retried = retried || e.Attempts > 1
		}
		if !retried {
			t.Error("no event was tried again")
		}
	})
}

// While Stripe hangs, the webhook answers all the same: it asks nothing of Stripe.
func TestFault30WebhookWhileStripeHangs(t *testing.T) {
	each(t, func(w *world) {
		t := w.t
		_ = t
		w.pro()
		w.stripe.FaultAPI(sandbox.APIFault{Action: sandbox.Hang})
		began := time.Now()
		for i := range 20 {
			text := body("evt_hang"+string(rune('a'+i)), "invoice.paid", `{"id":"in_1","object":"invoice","customer":"`+w.customer()+`"}`)
			if status := w.post(text, time.Now(), w.secret); status != http.StatusOK {
				t.Errorf("status %d", status)
			}
		}
		if took := time.Since(began); took > 4*time.Second { // one hanging request alone would take 10 s
			t.Errorf("20 events took %s", took)
		}
		w.stripe.ClearFaults()
		w.api.CloseClientConnections()
		w.wantPlan(models.PlanPro)
	})
}

// What cannot be done is a dead letter in the end, which an operator sees and can try again.
func TestDeadLetters(t *testing.T) {
	each(t, func(w *world) {
		t := w.t
		_ = t
		w.pro()
		w.kill()
		hook := w.billing.Webhook()
		w.handler.Store(&hook)
		w.stripe.FaultAPI(sandbox.APIFault{Action: sandbox.ServerError})
		if status := w.post(body("evt_dead", "invoice.paid", `{"id":"in_1","object":"invoice","customer":"`+w.customer()+`"}`), time.Now(), w.secret); status != http.StatusOK {
			t.Fatalf("status %d", status)
		}
		for range billing.MostAttempts {
			w.offset.Add(int64(15 * time.Minute))
			_, err := w.billing.Work(t.Context())
			w.must(err)
		}
		if e := w.events()[0]; e.ID != "evt_dead" || e.State != models.EventFailed || e.Outcome == "" {
			t.Fatalf("%+v", e)
		}
		w.stripe.ClearFaults()
		_, err := w.store.RetryEvent(t.Context(), "evt_dead")
		w.must(err)
		_, err = w.billing.Work(t.Context())
		w.must(err)
		if e := w.events()[0]; e.State != models.EventDone {
			t.Errorf("%+v", e)
		}
	})
}
