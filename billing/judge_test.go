package billing

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"lottery/models"
)

const week = 7 * 24 * time.Hour

// sold returns a subscription as read makes it: at the known price, at another of our product, or for another product.
func sold(id, status string, created int64, price string, pastDue time.Duration) subscription {
	s := subscription{id: id, status: status, created: created, priceID: price}
	switch price {
	case "known":
		s.plan, s.ours = models.PlanPro, true
	case "unknown":
		s.ours = true
	}
	if status == models.SubscriptionPastDue {
		s.pastDueSince = noon.Add(-pastDue)
	}
	return s
}

// ending returns s, set to end after that many days; 0 = Stripe does not say when.
func ending(s subscription, days int) subscription {
	s.ending = true
	if days > 0 {
		end := noon.AddDate(0, 0, days)
		s.periodEnd = &end
	}
	return s
}

// Every status with each kind of price, within the grace period, at its end and after.
func TestJudgeOne(t *testing.T) {
	t.Parallel()
	gives := map[string]bool{
		"active": true, "trialing": true,
		"incomplete": false, "incomplete_expired": false, "canceled": false, "unpaid": false, "paused": false, "a state to come": false,
	}
	for status, want := range gives {
		for _, price := range []string{"known", "unknown", "other"} {
			out := judge([]subscription{sold("sub_1", status, 1, price, 0)}, week, noon)
			if got := out.plan != nil; got != (want && price == "known") {
				t.Errorf("%s to the %s price: Pro is %v", status, price, got)
			}
			if got := len(out.unknown) == 1; got != (want && price == "unknown") {
				t.Errorf("%s to the %s price: flagged %v", status, price, got)
			}
			if out.graceEndsAt != nil || len(out.surplus)+len(out.several) != 0 {
				t.Errorf("%s to the %s price: %+v", status, price, out)
			}
		}
	}
	for late, want := range map[time.Duration]bool{0: true, week - time.Second: true, week: false, 3 * week: false, -time.Hour: true} {
		out := judge([]subscription{sold("sub_1", "past_due", 1, "known", late)}, week, noon)
		if (out.plan != nil) != want || (out.graceEndsAt != nil) != want || out.chosen == nil {
			t.Errorf("past due for %s: %+v", late, out)
		}
		if want && !out.graceEndsAt.Equal(noon.Add(week-late)) {
			t.Errorf("past due for %s: grace ends at %s", late, out.graceEndsAt)
		}
	}
	never := sold("sub_1", "past_due", 1, "known", 0)
	never.neverPaid = true
	if out := judge([]subscription{never}, week, noon); out.plan != nil || out.graceEndsAt != nil {
		t.Errorf("never paid, and past due: %+v", out)
	}
	if out := judge([]subscription{sold("sub_1", "past_due", 1, "known", 0)}, 0, noon); out.plan != nil {
		t.Error("no grace gives Pro")
	}
	if out := judge(nil, week, noon); out.plan != nil || out.chosen != nil {
		t.Errorf("nothing gives %+v", out)
	}
}

func TestJudgeSeveral(t *testing.T) {
	t.Parallel()
	known := func(id, status string, created int64) subscription {
		return sold(id, status, created, "known", time.Hour)
	}
	for name, c := range map[string]struct {
		subs             []subscription
		chosen           string
		surplus, several []string
	}{
		"two paid: the older stays": {
			[]subscription{known("new", "active", 2), known("old", "trialing", 1)}, "old", []string{"new"}, nil,
		},
		"made in one second: by id": {
			[]subscription{known("b", "active", 1), known("a", "active", 1)}, "a", []string{"b"}, nil,
		},
		"paid before past due, though newer": {
			[]subscription{known("new", "active", 2), known("old", "past_due", 1)}, "new", nil, []string{"old"},
		},
		"past due before unpaid": {
			[]subscription{known("new", "past_due", 2), known("old", "unpaid", 1)}, "new", nil, []string{"old"},
		},
		"unfinished before ended": {
			[]subscription{known("new", "canceled", 2), known("old", "incomplete", 1)}, "old", nil, nil,
		},
		"of the ended, the last": {
			[]subscription{known("1", "canceled", 1), known("3", "incomplete_expired", 3), known("2", "canceled", 2)}, "3", nil, nil,
		},
		"other products do not count": {
			[]subscription{sold("socks", "active", 1, "other", 0), known("ours", "active", 2), sold("odd", "unpaid", 1, "unknown", 0)}, "ours", nil, nil,
		},
		"three paid": {
			[]subscription{known("3", "active", 3), known("1", "active", 1), known("2", "active", 2)}, "1", []string{"2", "3"}, nil,
		},
		"one that goes on before an older one that ends": {
			[]subscription{known("new", "active", 2), ending(known("old", "active", 1), 5)}, "new", nil, []string{"old"},
		},
		"a newer one that ends is no double payment": {
			[]subscription{ending(known("new", "active", 2), 5), known("old", "active", 1)}, "old", nil, []string{"new"},
		},
		"two that go on beside one that ends": {
			[]subscription{known("3", "active", 3), known("2", "trialing", 2), ending(known("1", "active", 1), 5)}, "2", []string{"3"}, []string{"1"},
		},
		"all end: the last to end": {
			[]subscription{ending(known("1", "active", 1), 5), ending(known("2", "active", 2), 6), ending(known("0", "active", 3), 0)}, "2", nil, []string{"0", "1"},
		},
		"paid to its end before past due": {
			[]subscription{ending(known("new", "active", 2), 5), known("old", "past_due", 1)}, "new", nil, []string{"old"},
		},
	} {
		out := judge(slices.Clone(c.subs), week, noon)
		ids := func(list []subscription) (ids []string) {
			for _, s := range list {
				ids = append(ids, s.id)
			}
			slices.Sort(ids)
			return ids
		}
		if out.chosen == nil || out.chosen.id != c.chosen || !slices.Equal(ids(out.surplus), c.surplus) || !slices.Equal(ids(out.several), c.several) {
			t.Errorf("%s: %+v", name, out)
		}
	}
}

// Whatever the subscriptions and their order: the verdict is the same, at most one of the paid ones that continue is
// kept, and that is the oldest.
func TestJudgeAny(t *testing.T) {
	t.Parallel()
	states := []string{"active", "trialing", "past_due", "unpaid", "canceled", "incomplete", "incomplete_expired", "paused"}
	rapid.Check(t, func(rt *rapid.T) {
		var subs []subscription
		for i := range rapid.IntRange(0, 6).Draw(rt, "n") {
			s := sold(fmt.Sprint(i), rapid.SampledFrom(states).Draw(rt, "status"), int64(rapid.IntRange(1, 3).Draw(rt, "created")),
				rapid.SampledFrom([]string{"known", "known", "unknown", "other"}).Draw(rt, "price"),
				time.Duration(rapid.IntRange(0, 14).Draw(rt, "late"))*24*time.Hour)
			if rapid.Bool().Draw(rt, "ends") {
				s = ending(s, rapid.IntRange(0, 3).Draw(rt, "days"))
			}
			subs = append(subs, s)
		}
		out := judge(slices.Clone(subs), week, noon)
		again := judge(rapid.Permutation(subs).Draw(rt, "order"), week, noon)
		if (out.plan == nil) != (again.plan == nil) || len(out.surplus) != len(again.surplus) || (out.chosen == nil) != (again.chosen == nil) ||
			out.chosen != nil && out.chosen.id != again.chosen.id {
			rt.Fatalf("%+v\n%+v", out, again)
		}
		lasting, gives := 0, false
		for _, s := range subs {
			live := s.status == "active" || s.status == "trialing"
			if live && s.priceID == "known" {
				if !s.ending {
					lasting++
				}
				if s.until() > out.chosen.until() || s.until() == out.chosen.until() && s.created < out.chosen.created {
					rt.Fatalf("%s lasts longer than %s, or was there before it", s.id, out.chosen.id)
				}
			}
			gives = gives || s.priceID == "known" && (live || s.status == "past_due" && noon.Sub(s.pastDueSince) < week)
		}
		if gives != (out.plan != nil) || len(out.surplus) != max(0, lasting-1) {
			rt.Fatalf("%+v of %+v", out, subs)
		}
	})
}

// A subscription that is not at a price of ours, or no longer, concerns nobody: neither one that ended at an unknown
// price, nor a late payment for another product. If Stripe asks for the first payment again, no bank is deciding on it.
func TestJudgeLeavesOthersAlone(t *testing.T) {
	t.Parallel()
	elsewhere := sold("sub_elsewhere", models.SubscriptionCanceled, 1, "other", 0)
	elsewhere.paidLate = "in_late"
	for _, status := range []string{"canceled", "incomplete_expired"} {
		out := judge([]subscription{elsewhere, sold("sub_before", status, 2, "unknown", 0)}, week, noon)
		if len(out.idle) != 0 || len(out.unknown) != 0 || len(out.late) != 0 || out.chosen != nil || out.plan != nil {
			t.Errorf("%s: %+v", status, out)
		}
	}
	for status, waits := range map[string]bool{"active": true, "incomplete": false, "past_due": false, "canceled": false} {
		s := sold("sub_1", status, 1, "known", 0)
		s.owes = true
		if s.underWay() != waits {
			t.Errorf("%s: a payment is under way: %v", status, s.underWay())
		}
	}
	s := sold("sub_1", models.SubscriptionIncomplete, 1, "known", 0)
	if s.owes, s.neverPaid = true, true; !s.underWay() {
		t.Error("a first debit on which a bank decides is not under way")
	}
}
