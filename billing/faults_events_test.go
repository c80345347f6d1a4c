package billing_test

import (
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"lottery/billing"
	"lottery/billing/sandbox"
	"lottery/configs"
	"lottery/models"
	"lottery/models/store/storetest"
)

// Rows about single events: whose they are, what they say, who signed them.

func TestFault17EventForUnknownCustomer(t *testing.T) {
	each(t, func(w *world) {
		text := body("evt_unknown", "customer.subscription.updated", `{"id":"sub_x","object":"subscription","customer":"cus_nobody"}`)
		if status := w.post(text, time.Now(), w.secret); status != http.StatusOK {
			w.t.Errorf("status %d", status)
		}
		w.settle()
		if list := w.events(); len(list) != 1 || list[0].State != models.EventDone || list[0].AccountID != "" {
			w.t.Errorf("%+v", list)
		}
	})
}

func TestFault18EventWithoutOurMetadata(t *testing.T) {
	each(t, func(w *world) {
		cus := w.foreignCustomer(nil)
		_, err := w.stripe.NewSubscription(cus, w.price, "active", nil)
		w.must(err)
		w.settle()
		w.wantPlan(models.PlanFree)
		for _, e := range w.events() {
			if e.State != models.EventDone || e.Attempts != 1 {
				w.t.Errorf("%+v", e)
			}
		}
	})
}

func TestFault19UnhandledType(t *testing.T) {
	each(t, func(w *world) {
		if status := w.post(body("evt_other", "payout.paid", `{"id":"po_1","object":"payout"}`), time.Now(), w.secret); status != http.StatusOK {
			w.t.Errorf("status %d", status)
		}
		if list := w.events(); len(list) != 1 || list[0].State != models.EventIgnored {
			w.t.Errorf("%+v", list)
		}
	})
}

func TestFault21ObjectIsGoneWhenFetched(t *testing.T) {
	each(t, func(w *world) {
		w.pro()
		for i, text := range []string{
			body("evt_gone1", "charge.refunded", `{"id":"ch_gone","object":"charge","customer":"`+w.customer()+`"}`),
			body("evt_gone2", "charge.dispute.created", `{"id":"dp_gone","object":"dispute","charge":"ch_gone"}`),
			body("evt_gone3", "checkout.session.completed", `{"id":"cs_gone","object":"checkout.session","customer":"cus_gone"}`),
		} {
			if status := w.post(text, time.Now(), w.secret); status != http.StatusOK {
				w.t.Errorf("%d: status %d", i, status)
			}
		}
		w.settle()
		for _, e := range w.events() {
			if e.State != models.EventDone || e.Attempts != 1 {
				w.t.Errorf("%+v", e)
			}
		}
		w.wantPlan(models.PlanPro)
		w.wantFlags()
	})
}

// A customer whose account no longer exists may go on paying: the log says so, since there is no account to flag.
func TestCustomerOfAnAccountThatIsNotThere(t *testing.T) {
	each(t, func(w *world) {
		w.kill()
		log := &storetest.Buffer{}
		hook := w.billing.Webhook()
		w.handler.Store(&hook)
		lost := w.foreignCustomer(map[string]string{"lottery_account": "acc_none"})
		_, err := w.stripe.NewSubscription(lost, w.price, "active", nil)
		w.must(err)
		w.must(w.stripe.Quiesce(w.t.Context()))
		_, err = billing.New(billing.Options{
			Store: w.store, Stripe: w.cfg, PublicURL: w.hook.URL, StripeNow: w.stripe.Now, Log: slog.New(slog.NewTextHandler(log, nil)),
		}).Work(w.t.Context())
		w.must(err)
		if said := log.String(); !strings.Contains(said, "level=WARN") || !strings.Contains(said, lost) || !strings.Contains(said, "acc_none") {
			w.t.Errorf("%q", said)
		}
	})
}

func TestFault22NewerAPIShape(t *testing.T) {
	each(t, func(w *world) {
		w.stripe.SetEventVersion(sandbox.NewVersion)
		sub := w.pro()
		w.must(w.stripe.SetCard(w.customer(), sandbox.CardDeclined))
		w.must(w.stripe.Renew(sub))
		w.settle()
		w.wantPlan(models.PlanPro)
		w.wantMails(models.MailWelcomePro, models.MailPaymentFailed)
		b, err := w.store.BillingAccount(w.t.Context(), w.account.ID)
		w.must(err)
		if b.PeriodEnd == nil || b.PeriodEnd.Year() < 2026 {
			w.t.Errorf("the period ends %v", b.PeriodEnd)
		}
	})
}

func TestFault23PeriodEndMissing(t *testing.T) {
	each(t, func(w *world) {
		w.stripe.FaultAPI(sandbox.APIFault{Action: sandbox.NewShape, Path: "/v1/subscriptions*"}) // v76 reads 0 there
		w.buy(sandbox.CardOK)
		w.settle()
		w.wantPlan(models.PlanPro)
		b, err := w.store.BillingAccount(w.t.Context(), w.account.ID)
		w.must(err)
		if b.PeriodEnd != nil {
			w.t.Errorf("the period ends %v", b.PeriodEnd)
		}
	})
}

func TestFault24WrongMode(t *testing.T) {
	each(t, func(w *world) {
		w.pro()
		text := body("evt_live", "customer.subscription.deleted", `{"id":"sub_x","object":"subscription","customer":"`+w.customer()+`"}`)
		text = strings.Replace(text, `"livemode":false`, `"livemode":true`, 1)
		if status := w.post(text, time.Now(), w.secret); status != http.StatusOK {
			w.t.Errorf("status %d", status)
		}
		w.settle()
		w.wantPlan(models.PlanPro)
		w.wantFlags(models.FlagWrongMode)
		if list := w.events(); list[0].ID != "evt_live" || list[0].State != models.EventIgnored {
			w.t.Errorf("%+v", list[0])
		}
	})
}

// The other way round: a test event at a live server.
func TestFault24TestEventAtALiveServer(t *testing.T) {
	each(t, func(w *world) {
		w.kill()
		w.cfg = configs.Stripe{SecretKey: "sk_live_x", WebhookSecrets: []string{"whsec_x"}}
		hook := w.service().Webhook()
		w.handler.Store(&hook)
		if status := w.post(body("evt_test", "invoice.paid", `{"id":"in_1","object":"invoice","customer":"cus_1"}`), time.Now(), "whsec_x"); status != http.StatusOK {
			w.t.Errorf("status %d", status)
		}
		if list := w.events(); len(list) != 1 || list[0].State != models.EventIgnored {
			w.t.Errorf("%+v", list)
		}
	})
}

func TestFault26Signatures(t *testing.T) {
	each(t, func(w *world) {
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
				w.t.Errorf("%s: status %d", name, status)
			}
		}
		if list := w.events(); len(list) != 0 {
			w.t.Errorf("%+v", list)
		}
		if status := w.send(text, sandbox.Sign([]byte(text), now.Add(-295*time.Second), w.secret)); status != http.StatusOK {
			w.t.Errorf("295 s old: status %d", status)
		}
	})
}

func TestFault27SecretBeingRotated(t *testing.T) {
	each(t, func(w *world) {
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
				w.t.Errorf("%d secrets: no event was taken", len(configured))
			}
			w.kill()
		}
	})
}

func TestFault28BodyAlteredOrHuge(t *testing.T) {
	each(t, func(w *world) {
		text := body("evt_altered", "invoice.paid", `{"id":"in_1","object":"invoice","customer":"cus_1"}`)
		signature := sandbox.Sign([]byte(text), time.Now(), w.secret)
		if status := w.send(strings.Replace(text, "cus_1", "cus_2", 1), signature); status != http.StatusBadRequest {
			w.t.Errorf("altered: status %d", status)
		}
		huge := body("evt_huge", "invoice.paid", `{"id":"`+strings.Repeat("x", 10<<20)+`"}`)
		if status := w.post(huge, time.Now(), w.secret); status != http.StatusRequestEntityTooLarge && status != 0 { // 0: cut off while sending
			w.t.Errorf("10 MB: status %d", status)
		}
		for _, odd := range []string{`[]`, `null`, `{}`, `{"object":"event"}`, `{"id":"evt_1","object":"event","type":5}`, "\xff"} {
			if status := w.post(odd, time.Now(), w.secret); status != http.StatusBadRequest {
				w.t.Errorf("%q: status %d", odd, status)
			}
		}
		if list := w.events(); len(list) != 0 {
			w.t.Errorf("%+v", list)
		}
	})
}

// Whatever a genuine event holds in place of the customer, it is accepted and processed.
func TestEventsWithOddCustomers(t *testing.T) {
	each(t, func(w *world) {
		for i, customer := range []string{`null`, `""`, `"cus_none"`, `{"id":"cus_none"}`, `{}`, `[]`, `5`, `true`} {
			id := "evt_odd" + string(rune('a'+i))
			if status := w.post(body(id, "invoice.paid", `{"id":"in_1","object":"invoice","customer":`+customer+`}`), time.Now(), w.secret); status != http.StatusOK {
				w.t.Errorf("%s: status %d", customer, status)
			}
		}
		w.settle()
	})
}
