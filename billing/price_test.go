package billing_test

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"lottery/billing"
	"lottery/models"
	"lottery/models/store/storetest"
)

// monthly makes a monthly price that is sold from then on, and returns its id.
func (w *world) monthly(cents string) string {
	w.t.Helper()
	id := w.keyed(url.Values{"unit_amount": {cents}, "currency": {"usd"}, "recurring[interval]": {"month"}})
	_, err := w.billing.Setup(w.t.Context())
	w.must(err)
	return id
}

// A backup from before prices were registered knows them no more, whichever of them is sold now. Those who pay them stay
// on Pro, and are told nothing.
func TestRestoredFromBeforeThePrice(t *testing.T) {
	each(t, func(w *world) {
		sub := w.pro()
		former := w.monthly("1500")
		w.monthly("1900")
		w.must(w.stripe.SetPrice(sub, former))
		w.settle()
		w.kill()
		db := storetest.SQL(w.t, w.address)
		defer db.Close()
		for _, statement := range []string{"DELETE FROM known_prices WHERE unit_amount > 999", "UPDATE known_prices SET current = TRUE"} {
			_, err := db.ExecContext(w.t.Context(), statement)
			w.must(err)
		}
		w.start()
		_, err := w.billing.Reconcile(w.t.Context(), nil)
		w.must(err)
		w.wantPlan(models.PlanPro)
		w.wantMails(models.MailWelcomePro)
		w.wantFlags()
	})
}

// A copy of a registered price, made in Stripe's dashboard with its metadata, is not one.
func TestCopyOfAPrice(t *testing.T) {
	each(t, func(w *world) {
		sub := w.pro()
		var copied struct{ ID string }
		w.ask(http.MethodPost, "/v1/prices", url.Values{
			"product": {"lottery_pro"}, "unit_amount": {"100"}, "currency": {"usd"}, "recurring[interval]": {"month"}, "metadata[lottery_price]": {w.price},
		}, &copied)
		w.must(w.stripe.SetPrice(sub, copied.ID))
		w.settle()
		w.wantPlan(models.PlanFree)
		w.wantFlags(models.FlagUnknownPrice)
	})
}

// A price other than the usual that was archived, perhaps by mistake, is not silently replaced by the usual one.
func TestSetupAfterThePriceWasArchived(t *testing.T) {
	each(t, func(w *world) {
		sold := w.monthly("1500")
		w.ask(http.MethodPost, "/v1/prices/"+sold, url.Values{"active": {"false"}}, new(struct{}))
		_, err := w.billing.Setup(w.t.Context())
		if models.ErrorCode(err) != models.CodeConflict || !strings.Contains(err.Error(), sold) || !strings.Contains(err.Error(), "15.00 USD") {
			w.t.Errorf("%v", err)
		}
		for _, c := range w.billing.Doctor(w.t.Context()) {
			if c.Name == "price" && (c.OK || !strings.HasPrefix(c.Remedy, "make it active again")) {
				w.t.Errorf("%+v", c)
			}
		}
		w.ask(http.MethodPost, "/v1/prices/"+sold, url.Values{"active": {"true"}}, new(struct{}))
		done, err := w.billing.Setup(w.t.Context())
		if err != nil || done.Price.PriceID != sold {
			w.t.Errorf("%+v %v", done, err)
		}
	})
}

// The doctor reports a price that a restored database would not know; Setup marks it.
func TestPriceIsMarked(t *testing.T) {
	each(t, func(w *world) {
		checked := func() billing.Check {
			all := w.billing.Doctor(w.t.Context())
			return all[slices.IndexFunc(all, func(c billing.Check) bool { return c.Name == "price" })]
		}
		if c := checked(); !c.OK {
			w.t.Errorf("%+v", c)
		}
		w.ask(http.MethodPost, "/v1/prices/"+w.price, url.Values{"metadata[lottery_price]": {""}}, new(struct{}))
		if c := checked(); c.OK || !strings.Contains(c.Found, "not marked") {
			w.t.Errorf("%+v", c)
		}
		_, err := w.billing.Setup(w.t.Context())
		w.must(err)
		if c := checked(); !c.OK {
			w.t.Errorf("%+v", c)
		}
	})
}

// A price that was added to a subscription, instead of taking the place of the other, is charged as well.
func TestSeveralPricesInOneSubscription(t *testing.T) {
	each(t, func(w *world) {
		sub := w.pro()
		added := w.monthly("1500")
		w.ask(http.MethodPost, "/v1/subscriptions/"+sub, url.Values{"items[0][price]": {added}}, new(struct{}))
		w.settle()
		w.wantPlan(models.PlanPro)
		w.wantFlags(models.FlagQuantity)
		b, err := w.store.BillingAccount(w.t.Context(), w.account.ID)
		w.must(err)
		if b.PriceID == nil || !strings.Contains(*b.PriceID, w.price) || !strings.Contains(*b.PriceID, added) {
			w.t.Errorf("%+v", b)
		}
	})
}

// A subscription that is moved to an unknown price a second time, after somebody has looked at the first, is news.
func TestUnknownPriceAgain(t *testing.T) {
	each(t, func(w *world) {
		sub := w.moved("lottery_pro")
		w.wantFlags(models.FlagUnknownPrice)
		_, err := w.store.ClearFlags(w.t.Context(), w.account.ID)
		w.must(err)
		w.must(w.stripe.SetPrice(sub, w.price))
		w.settle()
		w.must(w.stripe.SetPrice(sub, w.otherPrice("lottery_pro")))
		w.settle()
		w.wantPlan(models.PlanFree)
		w.wantFlags(models.FlagUnknownPrice)
	})
}

// Closing an account cancels a subscription beside the one that counts. What was paid for it long ago is not reported as
// a payment that was made just now.
func TestEndBesideAnOldSubscription(t *testing.T) {
	each(t, func(w *world) {
		w.replaced()
		w.stripe.Advance(5 * 24 * time.Hour)
		w.settle()
		_, err := w.store.ClearFlags(w.t.Context(), w.account.ID)
		w.must(err)
		ended, err := w.billing.End(w.t.Context(), w.account.ID, cause())
		if err != nil || ended.JustPaid || len(ended.Cancelled) != 2 {
			w.t.Errorf("%+v %v", ended, err)
		}
		w.wantFlags()
	})
}

// A second customer that was flagged, and whose subscription the operator has ended, may begin another one.
func TestSecondCustomerPaysAgain(t *testing.T) {
	each(t, func(w *world) {
		w.pro()
		customer, sub := w.second()
		w.settle()
		w.wantFlags(models.FlagSecondCustomer)
		w.must(w.stripe.Cancel(sub))
		w.settle()
		_, err := w.store.ClearFlags(w.t.Context(), w.account.ID)
		w.must(err)
		_, err = w.billing.SyncAll(w.t.Context(), nil)
		w.must(err)
		w.wantFlags()
		w.stripe.Advance(90 * 24 * time.Hour)
		again, err := w.stripe.NewSubscription(customer, w.price, "active", nil)
		w.must(err)
		w.settle()
		w.wantFlags(models.FlagSecondCustomer)
		ended, err := w.billing.End(w.t.Context(), w.account.ID, cause())
		w.must(err)
		if len(ended.Cancelled) != 2 || ended.Cancelled[0] != again {
			w.t.Errorf("%+v", ended)
		}
	})
}

// After a restore, two customers with the account's address name it, and only the older one pays: it is the account's.
func TestRestoredWithTwoCustomers(t *testing.T) {
	each(t, func(w *world) {
		sub := w.pro()
		w.ask(http.MethodPost, "/v1/customers", url.Values{"email": {*w.account.Email}, "metadata[lottery_account]": {w.account.ID}}, new(struct{}))
		w.setBack()
		_, err := w.billing.Checkout(w.t.Context(), w.account.ID)
		w.refused(err)
		w.wantPlan(models.PlanPro)
		w.setBack()
		ended, err := w.billing.End(w.t.Context(), w.account.ID, cause())
		if err != nil || len(ended.Cancelled) != 1 || ended.Cancelled[0] != sub {
			w.t.Errorf("%+v %v", ended, err)
		}
	})
}

// A customer that is one account's here, and names another one at Stripe, does not keep that one from buying or leaving.
func TestCustomerOfAnotherAccount(t *testing.T) {
	each(t, func(w *world) {
		w.pro()
		customer := w.customer()
		w.account = w.newAccount()
		w.ask(http.MethodPost, "/v1/customers/"+customer, url.Values{"email": {*w.account.Email}, "metadata[lottery_account]": {w.account.ID}}, new(struct{}))
		_, err := w.billing.Checkout(w.t.Context(), w.account.ID)
		w.must(err)
		_, err = w.billing.End(w.t.Context(), w.account.ID, cause())
		w.must(err)
	})
}
