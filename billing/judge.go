package billing

import (
	"cmp"
	"slices"
	"time"

	"lottery/models"
)

// verdict is what judge makes of an account's subscriptions.
type verdict struct {
	plan        *models.Plan  // the plan that they give; nil = none
	chosen      *subscription // gives the plan, or else is the one to show; nil = none
	graceEndsAt *time.Time    // when the plan ends unless payment arrives; nil unless past due within grace
	surplus     []subscription
	several     []subscription // unfinished or set to end beside the chosen one, but not a double payment
	unknown     []subscription // paid, for our product, at a price that gives no plan
	idle        []subscription // also for our product at such a price, but neither paid nor over
	late        []subscription // paid after they had ended
}

// sorted separates the subscriptions at a price that gives a plan (candidates) from those of ours that give none but
// are still reported in a verdict.
func sorted(subs []subscription) (out verdict, candidates []subscription) {
	for _, s := range subs {
		if s.ours && s.paidLate != "" {
			out.late = append(out.late, s)
		}
		switch {
		case s.plan != "":
			candidates = append(candidates, s)
		case s.ours && s.paid():
			out.unknown = append(out.unknown, s)
		case s.goesOn():
			out.idle = append(out.idle, s)
		}
	}
	return out, candidates
}

// judge decides which plan an account's subscriptions give. subs holds all of the customer's subscriptions, whatever
// their status; those for other products do not count.
//
// Active and trialing give the plan. Past due gives it during the grace period, if it was ever paid. Unpaid, canceled,
// incomplete, incomplete_expired and paused give nothing. Of several paid ones that are not set to end, the oldest is
// kept and the others are surplus; one that is set to end is left to end.
// https://docs.stripe.com/billing/subscriptions/overview#subscription-statuses
func judge(subs []subscription, grace time.Duration, now time.Time) verdict {
	out, candidates := sorted(subs)
	rank := func(s *subscription) int {
		switch {
		case s.paid():
			return 0
		case s.status == models.SubscriptionPastDue && !s.neverPaid && now.Before(s.pastDueSince.Add(grace)):
			return 1
		case !s.over():
			return 2
		default:
			return 3
		}
	}
	slices.SortFunc(candidates, func(a, b subscription) int {
		ra, rb := rank(&a), rank(&b)
		if ra == 3 && rb == 3 {
			return cmp.Or(cmp.Compare(b.created, a.created), cmp.Compare(b.id, a.id)) // the newest of the ended
		}
		return cmp.Or(cmp.Compare(ra, rb), cmp.Compare(b.until(), a.until()), cmp.Compare(a.created, b.created), cmp.Compare(a.id, b.id))
	})
	if len(candidates) == 0 {
		return out
	}
	out.chosen = &candidates[0]
	for _, other := range candidates[1:] {
		switch {
		case other.over():
		case other.paid() && !other.ending: // and so is the chosen one, as paid ones come first
			out.surplus = append(out.surplus, other)
		default:
			out.several = append(out.several, other)
		}
	}
	switch rank(out.chosen) {
	case 0:
		out.plan = &out.chosen.plan
	case 1:
		out.plan = &out.chosen.plan
		end := out.chosen.pastDueSince.Add(grace)
		out.graceEndsAt = &end
	}
	return out
}
