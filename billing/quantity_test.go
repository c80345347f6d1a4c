package billing_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"lottery/models"
)

// Somebody sets a subscription's quantity to 2: it charges twice, for one plan. The operator is told what is charged,
// once for each quantity.
func TestQuantity(t *testing.T) {
	each(t, func(w *world) {
		sub := w.pro()
		var now struct {
			Items struct{ Data []struct{ ID string } }
		}
		w.ask(http.MethodGet, "/v1/subscriptions/"+sub, nil, &now)
		set := func(quantity string, want int64) {
			form := url.Values{"items[0][id]": {now.Items.Data[0].ID}, "items[0][quantity]": {quantity}}
			w.ask(http.MethodPost, "/v1/subscriptions/"+sub, form, new(struct{}))
			w.settle()
			w.wantPlan(models.PlanPro)
			if b, err := w.store.BillingAccount(w.t.Context(), w.account.ID); err != nil || b.Quantity == nil || *b.Quantity != want {
				w.t.Errorf("quantity %s: %v %+v", quantity, err, b.Quantity)
			}
		}
		w.wantFlags()
		set("2", 2)
		list, err := w.store.Flags(w.t.Context(), w.account.ID)
		w.must(err)
		if len(list) != 1 || list[0].Kind != models.FlagQuantity || !strings.Contains(list[0].Detail, sub) || !strings.Contains(list[0].Detail, "2 times 9.99 USD") {
			w.t.Errorf("%+v", list)
		}
		_, err = w.store.ClearFlags(w.t.Context(), w.account.ID)
		w.must(err)
		w.wantAfterSync(models.PlanPro)
		w.wantFlags()
		set("3", 3)
		w.wantFlags(models.FlagQuantity)
		set("1", 1)
		w.must(w.stripe.Cancel(sub))
		w.settle()
		w.wantFlags(models.FlagQuantity) // nothing new
	})
}
