package billing_test

import (
	"net/http"
	"slices"
	"time"

	"lottery/billing"
	"lottery/billing/sandbox"
	"lottery/models"
	"lottery/models/store"
)

// quiet ends all faults, and lets everything under way finish.
func (h *history) quiet() {
	h.stripe.ClearFaults()
	_, err := h.stripe.Release(h.ctx, sandbox.OrderRandom)
	h.must(err)
	h.must(h.stripe.Quiesce(h.ctx))
	for try := 0; ; try++ {
		h.offset.Add(int64(15 * time.Minute))
		_, err := h.billing.Work(h.ctx)
		h.must(err)
		q, err := h.store.InboxState(h.ctx)
		h.must(err)
		if q.Waiting == 0 {
			break
		}
		if try == 40 {
			h.rt.Fatalf("%d events wait for ever", q.Waiting)
		}
	}
	done, err := h.billing.Reconcile(h.ctx, func(_ string, now billing.Standing, err error) {
		if now.Account.ID == h.account.ID {
			h.must(err)
		}
	})
	h.must(err)
	if !done.Whole {
		h.rt.Fatalf("%+v", done)
	}
}

// judge compares the stored state with the sandbox's.
func (h *history) judge() {
	a, err := h.store.BilledAccount(h.ctx, h.account.ID)
	h.must(err)
	cus := h.customer()
	want, paid, mayBePro, goesOn := models.PlanFree, 0, false, false
	if cus != "" {
		for _, sub := range h.stripe.Subscriptions(cus) {
			goesOn = goesOn || sub.Status != "canceled" && sub.Status != "incomplete_expired"
			if len(sub.Prices) == 0 || sub.Prices[0] != h.price {
				continue
			}
			since, ever := h.unpaidSince(sub.ID)
			switch sub.Status {
			case "active", "trialing":
				if sub.Status == "active" && !ever { // a bank decides on the first debit
					h.seen.Waits++
					continue
				}
				want = models.PlanPro
				if !sub.AtPeriodEnd {
					paid++
				}
			case "past_due":
				if ever && h.stripe.Now().Before(since.Add(7*day)) {
					want = models.PlanPro
					h.seen.Grace++
				} else if ever && h.stripe.Now().Before(h.becamePastDue(sub.ID).Add(7*day)) {
					mayBePro = true // if a sync saw it active after the invoice
				}
			}
		}
	}
	if cus == "" && len(h.stripe.Customers()) > 0 {
		h.seen.Gone++
	}
	if paid > 1 {
		h.rt.Fatalf("%d paid subscriptions go on: %+v", paid, h.stripe.Subscriptions(cus))
	}
	closed := a.Status == models.AccountClosed
	if closed {
		h.seen.Closed++
		want = models.PlanFree
		for _, sub := range h.stripe.Subscriptions(cus) {
			if cus != "" && sub.Status != "canceled" && sub.Status != "incomplete_expired" {
				h.rt.Fatalf("the account is closed, and pays on: %+v", sub)
			}
		}
	}
	got := models.PlanFree
	if a.BilledPlan != nil {
		got = *a.BilledPlan
	}
	if got != want && (got != models.PlanPro || !mayBePro || closed) {
		h.rt.Fatalf("billed %s, the sandbox says %s: %+v", got, want, h.stripe.Subscriptions(cus))
	}
	if b, err := h.store.BillingAccount(h.ctx, h.account.ID); err != nil || b.GoesOn() != goesOn {
		h.rt.Fatalf("%v: it is written down that a subscription goes on: %t, the sandbox has %+v", err, b.GoesOn(), h.stripe.Subscriptions(cus))
	}
	if plan, _ := a.Plan(); h.granted && !closed && plan != models.PlanPro {
		h.rt.Fatalf("granted Pro, is on %s", plan)
	}
	h.judgeRecords(got, closed)
	h.judgeLate(cus)
	ours := 0
	for _, c := range h.stripe.Customers() {
		if c.Metadata["lottery_account"] == h.account.ID && c.Metadata["stray"] == "" && !c.Deleted {
			ours++
		}
	}
	if ours > 1 {
		h.rt.Fatalf("%d live customers", ours)
	}
}

// judgeLate checks that payments after the end are flagged.
func (h *history) judgeLate(cus string) {
	if cus == "" {
		return
	}
	var list struct {
		Data []struct {
			ID      string
			EndedAt int64 `json:"ended_at"`
			Latest  struct {
				ID         string
				AmountPaid int64 `json:"amount_paid"`
				Moves      struct {
					PaidAt int64 `json:"paid_at"`
				} `json:"status_transitions"`
			} `json:"latest_invoice"`
		}
	}
	h.read(http.MethodGet, "/v1/subscriptions?status=all&limit=100&customer="+cus+"&expand[]=data.latest_invoice", nil, &list)
	flags, err := h.store.Flags(h.ctx, h.account.ID)
	h.must(err)
	for _, sub := range list.Data {
		if sub.EndedAt == 0 || sub.Latest.AmountPaid == 0 || sub.Latest.Moves.PaidAt <= sub.EndedAt {
			continue
		}
		h.seen.Late++
		if !slices.ContainsFunc(flags, func(f models.AccountFlag) bool { return f.Kind == models.FlagPaidLate && f.Ref == sub.Latest.ID }) {
			h.rt.Fatalf("%+v was paid after its end, and is not flagged: %+v", sub, flags)
		}
	}
}

// judgeRecords replays the audit log, and compares the mails with it.
func (h *history) judgeRecords(billed models.Plan, closed bool) {
	entries, err := h.store.AuditOf(h.ctx, h.account.ID, 1000)
	h.must(err)
	at := string(models.PlanFree)
	ups, downs := 0, 0
	for _, e := range slices.Backward(entries) {
		if e.Was != at || e.Became == at {
			h.rt.Fatalf("the audit log breaks at %+v: it was %s", e, at)
		}
		if at = e.Became; at == string(models.PlanPro) {
			ups++
		} else {
			downs++
		}
	}
	if at != string(billed) {
		h.rt.Fatalf("the audit log ends with %s, billed is %s", at, billed)
	}
	h.seen.Upgrades, h.seen.Ends = h.seen.Upgrades+ups, h.seen.Ends+downs
	flags, err := h.store.Flags(h.ctx, h.account.ID)
	h.must(err)
	for _, f := range flags {
		if f.Kind == models.FlagDoublePayment {
			h.seen.Doubles++
		}
	}
	mails, err := h.store.MailsNewest(h.ctx, store.MailFilter{AccountID: h.account.ID})
	h.must(err)
	count := map[models.MailKind]int{}
	for _, m := range mails {
		count[m.Kind]++
	}
	if closed { // its mails were deleted with it, and no more are written
		ups, downs = 0, 0
	}
	if count[models.MailWelcomePro] != ups || count[models.MailProEnded] != downs {
		h.rt.Fatalf("mails %v for %d welcomes and %d ends", count, ups, downs)
	}
}

// becamePastDue returns when the sandbox last made a subscription past due.
func (h *history) becamePastDue(sub string) time.Time {
	var list struct {
		Data []struct {
			Created int64
			Data    struct {
				Object struct{ ID, Status string }
				Before struct{ Status string } `json:"previous_attributes"`
			}
		}
	}
	h.read(http.MethodGet, "/v1/events?limit=100&type=customer.subscription.updated", nil, &list)
	for _, e := range list.Data { // the newest first
		if e.Data.Object.ID == sub && e.Data.Object.Status == "past_due" && e.Data.Before.Status != "" {
			return time.Unix(e.Created, 0)
		}
	}
	return time.Time{}
}

// unpaidSince returns when the oldest open invoice after the last paid one was made or, if there is none, when the
// subscription's period began. ever is false if there are open ones and none was ever paid.
func (h *history) unpaidSince(sub string) (since time.Time, ever bool) {
	var list struct {
		Data []struct {
			Created int64
			Status  string
		}
	}
	h.read(http.MethodGet, "/v1/invoices?limit=100&subscription="+sub, nil, &list)
	for _, invoice := range list.Data {
		if invoice.Status == "paid" {
			ever = true
			break
		}
		if invoice.Status == "open" {
			since = time.Unix(invoice.Created, 0)
		}
	}
	if since.IsZero() {
		var begun struct {
			At int64 `json:"current_period_start"`
		}
		h.read(http.MethodGet, "/v1/subscriptions/"+sub, nil, &begun)
		since, ever = time.Unix(begun.At, 0), true
	}
	return since, ever
}
