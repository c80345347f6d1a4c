package billing_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"lottery/billing"
	"lottery/models"
	"lottery/models/store"
)

// pending puts an event into the inbox as the webhook does.
func (w *world) pending(id, customer string) {
	w.t.Helper()
	_, err := w.store.AddEvent(w.t.Context(), models.StripeEvent{ID: id, Type: "invoice.paid", CustomerID: customer, State: models.EventPending, CreatedAt: time.Now().UTC()})
	w.must(err)
}

// An event that kills the server every time ends as a dead letter; the others are processed.
func TestEventThatKills(t *testing.T) {
	each(t, func(w *world) {
		w.kill()
		w.pending("evt_killer", "cus_x")
		for range billing.MostAttempts { // each claim ends with the process
			claimed, err := w.store.ClaimEvents(w.t.Context(), 9, 15*time.Second, nil)
			if err != nil || len(claimed) != 1 {
				w.t.Fatal(len(claimed), err)
			}
			w.offset.Add(int64(16 * time.Second))
		}
		w.pending("evt_other", "cus_y")
		if n, err := w.billing.Work(w.t.Context()); n != 2 || err != nil {
			w.t.Errorf("%d %v", n, err)
		}
		for _, e := range w.events() {
			failed := e.ID == "evt_killer"
			if (e.State == models.EventFailed) != failed || (e.State == models.EventDone) == failed || failed && !strings.Contains(e.Outcome, "15 times") {
				w.t.Errorf("%+v", e)
			}
		}
		if q, err := w.store.InboxState(w.t.Context()); err != nil || q.Dead != 1 || q.Waiting != 0 {
			w.t.Errorf("%v %+v", err, q)
		}
		w.pending("evt_next", "cus_x") // of the same customer
		if n, err := w.billing.Work(w.t.Context()); n != 1 || err != nil {
			w.t.Errorf("after the dead letter: %d %v", n, err)
		}
	})
}

// A gap in a list from Stripe, or in one of its items, is an error for that account: nobody loses a plan, and the
// server goes on.
func TestHoleInAList(t *testing.T) {
	each(t, func(w *world) {
		w.pro()
		w.kill()
		stripe := w.api.Config.Handler
		for i, list := range []string{
			`[null]`, `[{"id":"sub_1","object":"subscription","status":"active","items":{"object":"list","data":[null]}}]`,
		} {
			w.api.Config.Handler = http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
				rw.Header().Set("Content-Type", "application/json")
				fmt.Fprintf(rw, `{"object":"list","data":%s,"has_more":false}`, list)
			})
			if _, err := w.billing.Sync(w.t.Context(), w.account.ID, billing.Cause{Actor: "operator"}); err == nil || strings.Contains(err.Error(), "does not answer") {
				w.t.Errorf("%s: %v", list, err)
			}
			id := fmt.Sprintf("evt_%d", i)
			w.pending(id, w.customer())
			if _, err := w.billing.Work(w.t.Context()); err != nil {
				w.t.Error(err)
			}
			waiting, err := w.store.Events(w.t.Context(), store.EventFilter{State: models.EventPending})
			if err != nil || len(waiting) != 1 || waiting[0].ID != id || waiting[0].Outcome == "" {
				w.t.Errorf("%v %+v", err, waiting)
			}
			w.wantPlan(models.PlanPro)
			w.api.Config.Handler = stripe
			w.offset.Add(int64(time.Minute))
			if _, err := w.billing.Work(w.t.Context()); err != nil {
				w.t.Error(err)
			}
		}
		if q, err := w.store.InboxState(w.t.Context()); err != nil || q.Waiting != 0 {
			w.t.Errorf("%d wait, %v", q.Waiting, err)
		}
	})
}

// A response that is not Stripe's, whatever its status, is not an empty list: because of it nobody loses a plan, is
// told that nothing will be charged, or is sold Pro again. No part of it is stored.
func TestAnswersThatAreNotStripes(t *testing.T) {
	each(t, func(w *world) {
		ctx := w.t.Context()
		w.pro()
		w.kill()
		stripe := w.api.Config.Handler
		for _, c := range []struct {
			status int
			body   string
		}{
			{200, `{}`}, {200, `{"status":"marvin"}`}, {200, `null`}, {200, `[]`}, {200, ``}, {200, `<p>marvin</p>`}, {200, `{"id":"marvin"}`},
			{200, `{"object":"list","has_more":true}`}, {200, `{"object":"list","has_more":true,"data":[]}`}, {200, `{"data":[{}]}`},
			{200, `{"object":"list","data":[{}],"has_more":false}`}, {200, `{"object":"list","data":[null],"has_more":false}`},
			{200, `{"object":"list","data":{"id":"marvin"}}`},
			{200, `{"id":"x","object":"x"}`}, {200, `{"object":"list","data":[{"id":"sub_1","object":"subscription","items":"marvin"}],"has_more":false}`},
			{300, `{}`}, {300, `{"object":"list","data":[],"has_more":false}`}, {302, `{"object":"list","data":[],"has_more":false}`}, {404, `<p>marvin</p>`}, {404, `{"error":{}}`}, {403, `<p>marvin</p>`},
			{400, `{"error":{"type":"invalid_request_error","message":{"marvin":1}}}`},
			{402, `<p>marvin</p>`}, {409, `{"marvin":1}`}, {500, `marvin`}, {502, `<p>marvin</p>`}, {502, `{"error":"marvin"}`},
		} {
			w.api.Config.Handler = http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
				rw.Header().Set("Content-Type", "application/json")
				rw.WriteHeader(c.status)
				fmt.Fprint(rw, c.body)
			})
			_, synced := w.billing.Sync(ctx, w.account.ID, cause())
			_, sold := w.billing.Checkout(ctx, w.account.ID)
			_, ended := w.billing.End(ctx, w.account.ID, cause())
			w.pending("evt_1", w.customer())
			w.pending("evt_2", "cus_unknown")
			_, err := w.billing.Work(ctx)
			w.must(err)
			for what, err := range map[string]error{"sync": synced, "checkout": sold, "end": ended} {
				if models.ErrorCode(err) != models.CodeUnavailable && c.status != http.StatusBadRequest || err == nil || strings.Contains(err.Error(), "marvin") {
					w.t.Errorf("%d %s: %s: %v", c.status, c.body, what, err)
				}
			}
			for _, e := range w.events() {
				if ours := e.ID == "evt_1" || e.ID == "evt_2"; ours && (e.State == models.EventDone || e.Outcome == "" || strings.Contains(e.Outcome, "marvin")) {
					w.t.Errorf("%d %s: %+v", c.status, c.body, e)
				}
			}
			w.wantPlan(models.PlanPro)
			w.api.Config.Handler = stripe
			w.offset.Add(int64(time.Hour))
		}
		w.wantMails(models.MailWelcomePro)
	})
}

// Even a single response may not be Stripe's: a list with a gap takes nobody's plan, and a subscription counts as
// cancelled only if Stripe itself has said so.
func TestOneAnswerThatIsNotStripes(t *testing.T) {
	each(t, func(w *world) {
		ctx := w.t.Context()
		w.pro()
		w.kill()
		for _, list := range []string{`[{}]`, `[{"object":"subscription","status":"active"}]`} {
			holed := w.via(rewritten("/v1/subscriptions", func(string) string { return `{"object":"list","data":` + list + `,"has_more":false}` }))
			if _, err := holed.Sync(ctx, w.account.ID, cause()); models.ErrorCode(err) != models.CodeUnavailable {
				w.t.Errorf("%s: %v", list, err)
			}
			w.wantPlan(models.PlanPro)
		}
		for _, c := range []struct {
			status int
			body   string
		}{{200, `{"object":"subscription"}`}, {200, `{"id":"sub_1","object":"list"}`}, {404, `{"error":{}}`}, {404, `<p>no such page</p>`}, {300, `{"id":"sub_1","object":"subscription"}`}} {
			node := w.via(answering(func(r *http.Request) (int, string) {
				if r.Method == http.MethodDelete {
					return c.status, c.body
				}
				return 0, ""
			}))
			if ended, err := node.End(ctx, w.account.ID, cause()); models.ErrorCode(err) != models.CodeUnavailable || ended.All || len(ended.Cancelled) != 0 {
				w.t.Errorf("%d %s: %v %+v", c.status, c.body, err, ended)
			}
		}
	})
}

// A response that is not even HTTP is reported without quoting it, also by the doctor, who asks our own URL as well.
func TestAnswersThatAreNoHTTP(t *testing.T) {
	each(t, func(w *world) {
		w.pro()
		w.kill()
		for _, answer := range []string{
			"SSH-2.0-marvin cus_marvin\r\n", "HTTP/1.1 marvin\r\n\r\n", "marvin\r\n\r\n", "HTTP/1.1 200 OK\r\nmarvin's header\r\n\r\n",
			"HTTP/1.1 200 OK\r\nContent-Length: marvin\r\n\r\n", "HTTP/1.1 200 OK\r\nTransfer-Encoding: \"marvin\"\r\n\r\n",
		} {
			somebody := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
				conn, _, err := http.NewResponseController(rw).Hijack()
				if err == nil {
					_, _ = conn.Write([]byte(answer))
					_ = conn.Close()
				}
			}))
			o := billing.Options{Store: w.store, Stripe: w.cfg, PublicURL: somebody.URL, StripeNow: w.stripe.Now}
			checks := billing.New(o).Doctor(w.t.Context())
			o.Stripe.APIURL = somebody.URL
			away := billing.New(o)
			_, err := away.Sync(w.t.Context(), w.account.ID, cause())
			if err == nil || strings.Contains(err.Error(), "marvin") {
				w.t.Errorf("%q: %v", answer, err)
			}
			for _, c := range append(checks, away.Doctor(w.t.Context())...) {
				if strings.Contains(c.Found+c.Remedy, "marvin") {
					w.t.Errorf("%q: %+v", answer, c)
				}
			}
			somebody.Close()
		}
		w.wantPlan(models.PlanPro)
	})
}

// faulty is a transport that panics.
type faulty struct{}

func (faulty) RoundTrip(*http.Request) (*http.Response, error) { panic(errors.New("a fault of ours")) }

// A panic while an event is processed is a failed attempt.
func TestPanicIsAFailedAttempt(t *testing.T) {
	each(t, func(w *world) {
		w.kill()
		w.pending("evt_1", "cus_unknown")
		s := billing.New(billing.Options{Store: w.store, Stripe: w.cfg, PublicURL: w.hook.URL, Transport: faulty{}})
		for attempt := range billing.MostAttempts {
			if n, err := s.Work(w.t.Context()); n != 1 || err != nil {
				w.t.Fatalf("attempt %d: %d %v", attempt, n, err)
			}
			w.offset.Add(int64(15 * time.Minute))
		}
		if e := w.events()[0]; e.State != models.EventFailed || !strings.Contains(e.Outcome, "it panicked: a fault of ours") {
			w.t.Errorf("%+v", e)
		}
	})
}
