package billing_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"lottery/billing/sandbox"
	"lottery/models"
)

// Stripe does not answer for one customer: nobody else waits for that, however many of that customer's events came
// first.
func TestACustomerWithoutAnswersKeepsNobodyWaiting(t *testing.T) {
	each(t, func(w *world) {
		w.pro()
		stuck, asked, answer := w.customer(), make(chan struct{}, 1000), make(chan struct{})
		w.kill()
		for i := range 230 { // more than are worked on at once
			w.pending(fmt.Sprintf("evt_stuck%03d", i), stuck)
		}
		w.account = w.newAccount()
		session := w.checkout()
		node := w.via(roundTrip(func(r *http.Request) (*http.Response, error) {
			if strings.Contains(r.URL.String(), stuck) {
				asked <- struct{}{}
				select {
				case <-answer:
				case <-r.Context().Done():
					return nil, r.Context().Err()
				}
			}
			return http.DefaultTransport.RoundTrip(r)
		}))
		hook := node.Webhook()
		w.handler.Store(&hook)
		ctx, stop := context.WithCancel(w.t.Context())
		w.stop, w.stopped = stop, make(chan struct{})
		go func() {
			defer close(w.stopped)
			node.Run(ctx)
		}()
		<-asked // that customer's events are being processed
		_, _, err := w.stripe.Pay(session, sandbox.CardOK)
		w.must(err)
		w.soonPro(5 * time.Second) // half the timeout of a request to Stripe
		if n := len(asked); n != 0 {
			w.t.Errorf("Stripe was asked %d more times for the one for whom it does not answer", n)
		}
		close(answer)
		w.settle()
	})
}

// soonPro waits until the account is on Pro.
func (w *world) soonPro(most time.Duration) {
	w.t.Helper()
	for began := time.Now(); w.plan() != models.PlanPro; time.Sleep(5 * time.Millisecond) {
		if time.Since(began) > most {
			w.t.Fatalf("not on Pro after %s", most)
		}
	}
}
