package billing

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stripe/stripe-go/v76"

	"lottery/models"
)

// asAt is what the judge says of one subscription.
type asAt struct {
	pro, grace, unfinished, flagged bool
}

func judged(t *testing.T, subs ...subscription) (standing, asAt) {
	t.Helper()
	st := judge(subs, 7*24*time.Hour, noon)
	if st.plan != nil && *st.plan != models.PlanPro {
		t.Errorf("the plan is %q", *st.plan)
	}
	return st, asAt{st.plan != nil, st.graceEndsAt != nil, unfinished(subs), len(st.unknown) > 0}
}

var statuses = []string{"active", "trialing", "past_due", "unpaid", "canceled", "incomplete", "incomplete_expired", "paused"}

// Every status, at the price that is sold, at another one of our product, and at one of another product.
func TestJudgeOne(t *testing.T) {
	t.Parallel()
	const week = 7 * 24 * time.Hour
	type kind struct {
		plan models.Plan
		ours bool
	}
	sold, unknown, other := kind{models.PlanPro, true}, kind{"", true}, kind{}
	want := map[string]map[kind]asAt{
		"active":             {sold: {pro: true, unfinished: true}, unknown: {unfinished: true, flagged: true}},
		"trialing":           {sold: {pro: true, unfinished: true}, unknown: {unfinished: true, flagged: true}},
		"past_due":           {sold: {pro: true, grace: true, unfinished: true}, unknown: {unfinished: true}},
		"unpaid":             {sold: {unfinished: true}, unknown: {unfinished: true}},
		"incomplete":         {sold: {unfinished: true}, unknown: {unfinished: true}},
		"paused":             {sold: {unfinished: true}, unknown: {unfinished: true}},
		"canceled":           {},
		"incomplete_expired": {},
	}
	for _, status := range statuses {
		for _, k := range []kind{sold, unknown, other} {
			for _, atEnd := range []bool{false, true} {
				_, got := judged(t, subscription{
					id: "sub_1", status: status, plan: k.plan, ours: k.ours, pastDueSince: noon.Add(-time.Hour), cancelAtPeriodEnd: atEnd,
				})
				if got != want[status][k] {
					t.Errorf("%s, %+v, ends %v: %+v, want %+v", status, k, atEnd, got, want[status][k])
				}
			}
		}
	}
	for since, pro := range map[time.Duration]bool{
		0: true, week - time.Second: true, week: false, week + time.Second: false, 400 * 24 * time.Hour: false, -time.Hour: true,
	} {
		st, got := judged(t, subscription{id: "sub_1", status: "past_due", plan: models.PlanPro, ours: true, pastDueSince: noon.Add(-since)})
		if got.pro != pro || got.grace != pro {
			t.Errorf("past due for %s: %+v", since, got)
		}
		if pro && !st.graceEndsAt.Equal(noon.Add(week-since)) {
			t.Errorf("past due for %s: grace ends at %s", since, st.graceEndsAt)
		}
	}
	if _, got := judged(t); got != (asAt{}) {
		t.Errorf("without subscriptions: %+v", got)
	}
}

// Of every two or three, in every order that Stripe may list them in.
func TestJudgeSeveral(t *testing.T) {
	t.Parallel()
	var all []subscription
	for i, status := range statuses {
		for age := range 2 {
			all = append(all, subscription{
				id: fmt.Sprintf("sub_%d_%d", i, age), status: status, plan: models.PlanPro, ours: true,
				created: int64(100 - age), pastDueSince: noon.Add(-time.Duration(1+9*24*age) * time.Hour), // in grace, and beyond it
			})
		}
	}
	socks := subscription{id: "sub_socks", status: "active"}
	check := func(subs ...subscription) {
		t.Helper()
		st, got := judged(t, subs...)
		var paid []subscription
		grace := false
		for _, s := range subs {
			if s.paid() && s.ours {
				paid = append(paid, s)
			}
			grace = grace || s.status == "past_due" && noon.Sub(s.pastDueSince) < 7*24*time.Hour
		}
		if got.pro != (len(paid) > 0 || grace) || got.grace != (len(paid) == 0 && grace) {
			t.Errorf("%v: %+v", names(subs), got)
		}
		if len(paid) > 0 { // the oldest stays, all others are paid back
			oldest := slices.MinFunc(paid, func(a, b subscription) int { return int(a.created - b.created) })
			if st.chosen.created != oldest.created || !st.chosen.paid() || len(st.surplus) != len(paid)-1 {
				t.Errorf("%v: chosen is %s, surplus are %v", names(subs), st.chosen.id, names(st.surplus))
			}
		} else if len(st.surplus) > 0 {
			t.Errorf("%v: surplus are %v", names(subs), names(st.surplus))
		}
		for _, s := range slices.Concat(st.surplus, st.several) {
			if s.id == st.chosen.id || s.over() || !s.ours {
				t.Errorf("%v: beside %s there is %s", names(subs), st.chosen.id, s.id)
			}
		}
		turned := slices.Clone(subs)
		slices.Reverse(turned)
		again, same := judged(t, turned...)
		if same != got || again.chosen.id != st.chosen.id || fmt.Sprint(names(again.surplus), names(again.several)) != fmt.Sprint(names(st.surplus), names(st.several)) {
			t.Errorf("%v: another order gives %+v with %s", names(subs), same, again.chosen.id)
		}
	}
	for _, a := range all {
		check(a, socks)
		for _, b := range all {
			if a.id == b.id {
				continue
			}
			check(a, b)
			for _, c := range all {
				if c.id != a.id && c.id != b.id {
					check(a, socks, b, c)
				}
			}
		}
	}
}

func names(subs []subscription) (list []string) {
	for _, s := range subs {
		list = append(list, s.id)
	}
	return list
}

// Of subscriptions that have all ended, the one that began last is told of.
func TestJudgeEnded(t *testing.T) {
	t.Parallel()
	st, got := judged(t,
		subscription{id: "sub_1", status: "canceled", plan: models.PlanPro, ours: true, created: 1},
		subscription{id: "sub_3", status: "incomplete_expired", plan: models.PlanPro, ours: true, created: 3},
		subscription{id: "sub_2", status: "canceled", plan: models.PlanPro, ours: true, created: 2})
	if got != (asAt{}) || st.chosen.id != "sub_3" || len(st.several)+len(st.surplus) != 0 {
		t.Errorf("%+v %+v", got, st)
	}
}

// What Stripe leaves out is nothing, and never 1970.
func TestRead(t *testing.T) {
	t.Parallel()
	prices := map[string]models.KnownPrice{"price_pro": {PriceID: "price_pro", ProductID: "prod_1", Plan: models.PlanPro}}
	items := func(list ...*stripe.SubscriptionItem) *stripe.SubscriptionItemList {
		return &stripe.SubscriptionItemList{Data: list}
	}
	pro := &stripe.SubscriptionItem{Price: &stripe.Price{ID: "price_pro", Product: &stripe.Product{ID: "prod_1"}}}
	other := &stripe.SubscriptionItem{Price: &stripe.Price{ID: "price_x", Product: &stripe.Product{ID: "prod_1"}}}
	socks := &stripe.SubscriptionItem{Price: &stripe.Price{ID: "price_y", Product: &stripe.Product{ID: "prod_2"}}}
	for name, c := range map[string]struct {
		items *stripe.SubscriptionItemList
		plan  models.Plan
		price string
		ours  bool
	}{
		"nothing":         {nil, "", "", false},
		"no items":        {items(), "", "", false},
		"no price":        {items(&stripe.SubscriptionItem{}), "", "", false},
		"no product":      {items(&stripe.SubscriptionItem{Price: &stripe.Price{ID: "price_z"}}), "", "", false},
		"Pro":             {items(pro), models.PlanPro, "price_pro", true},
		"another price":   {items(other), "", "price_x", true},
		"another product": {items(socks), "", "", false},
		"socks and Pro":   {items(socks, pro), models.PlanPro, "price_pro", true},
		"other and Pro":   {items(other, pro), models.PlanPro, "price_pro", true},
	} {
		got := read(&stripe.Subscription{ID: "sub_1", Status: "active", Items: c.items}, prices)
		if got.plan != c.plan || got.priceID != c.price || got.ours != c.ours || got.periodEnd != nil || !got.pastDueSince.IsZero() {
			t.Errorf("%s: %+v", name, got)
		}
	}
	got := read(&stripe.Subscription{CurrentPeriodEnd: noon.Unix(), CurrentPeriodStart: noon.Unix() - 1}, prices)
	if got.periodEnd == nil || !got.periodEnd.Equal(noon) || !got.pastDueSince.Equal(noon.Add(-time.Second)) {
		t.Errorf("%+v", got)
	}
}
