package web

import (
	"context"
	"errors"
	"net/http"
	"time"

	"lottery/billing"
	"lottery/models"
)

// planView is an account's plan and what we know of its payment.
type planView struct {
	Plan      models.Plan
	Limit     int
	OwnLimit  bool // the operator has set Limit for this account, whatever its plan
	Keys      int  // how many live keys the plan allows
	Billing   models.BillingAccount
	PastDue   bool
	GivenUp   bool       // past due, and Stripe no longer tries to collect the payment
	UnderWay  bool       // the bank has not decided on the first payment yet
	Trial     bool       // nothing is charged before the trial ends
	Idle      bool       // the subscription continues without giving a plan, and no payment would change that
	EndsAt    *time.Time // when a canceled subscription ends, whether or not it is paid until then
	ProUntil  *time.Time // if past due: when Pro ends unless it is paid; nil = it does not, or has ended
	RenewsAt  *time.Time
	CanBuy    bool
	CanManage bool // Stripe's portal can be opened
	Charging  bool // a subscription continues; not one that an open checkout merely began
	Suspended bool
	Granted   bool // the operator has set the plan: paying does not change it
	Refused   bool // an upgrade was requested, but is not possible now
	Pro       models.PlanTerms
	Price     string // monthly price of Pro as sold now
	Paid      string // what the account's own subscription charges a month, with the words "a month"; "" = unknown
}

// standing reads the visitor's plan. If they come from Stripe's portal, it syncs the account with Stripe first rather
// than wait for a webhook.
func (h *Handler) standing(r *http.Request, v *visitor) (planView, error) {
	if r.URL.Query().Get("from") == "portal" && h.deps.Billing != nil && !h.tooManyAsks(r, v.Account.ID) { // otherwise leave it to the webhook
		asked, cancel := asking(r.Context())
		now, err := h.deps.Billing.Sync(asked, v.Account.ID, billing.Cause{Actor: "customer", Reason: "came back from the portal"})
		cancel()
		if err == nil {
			v.Account = now.Account
		} else { // the webhook will bring the change
			h.deps.Log.WarnContext(r.Context(), "an account that came back from the portal cannot be looked at now", "account", v.Account.ID, "error", err)
		}
	}
	b, err := h.deps.Store.BillingAccount(r.Context(), v.Account.ID)
	if err != nil {
		return planView{}, err
	}
	p := planView{
		Billing: b, Charging: b.GoesOn() && !b.InCheckout(h.deps.Now()), Suspended: v.Account.Status == models.AccountSuspended,
		Limit: v.Account.DailyLimit(h.deps.Plans), OwnLimit: v.Account.LimitOverride != nil,
		Pro: h.deps.Plans[models.PlanPro], Price: h.proPrice(r.Context()), Paid: h.paidPrice(r.Context(), &b),
	}
	plan, source := v.Account.Plan()
	p.Plan, p.Granted = plan, source == models.SourceOperator
	p.Keys = h.deps.Plans[p.Plan].MaxKeys
	p.pays()
	on := h.deps.Billing != nil
	p.CanManage = on && b.CustomerID != nil
	p.Refused = r.URL.Query().Get("from") == "checkout"
	if r.URL.Query().Get("from") == "payment" && p.open() && !p.Charging { // Stripe does not show the subscription yet
		p.UnderWay = true
	}
	p.CanBuy = on && p.open() && !p.Charging && !p.UnderWay
	return p, nil
}

// asking bounds the time in which a page asks Stripe, or waits for another process that is doing so. It leaves a tenth
// of the page's remaining time for showing the result if nobody answers.
func asking(ctx context.Context) (context.Context, context.CancelFunc) {
	until, ok := ctx.Deadline()
	if !ok {
		return context.WithCancel(ctx)
	}
	return context.WithDeadline(ctx, until.Add(-time.Until(until)/10))
}

// pays derives the state of the payment from the subscription's status.
func (p *planView) pays() {
	b, status := &p.Billing, ""
	if b.Status != nil {
		status = *b.Status
	}
	if b.CancelAtPeriodEnd && p.Charging {
		p.EndsAt = b.PeriodEnd
	}
	switch status {
	case models.SubscriptionActive, models.SubscriptionTrialing:
		p.Trial = status == models.SubscriptionTrialing
		if p.EndsAt == nil {
			p.RenewsAt = b.PeriodEnd
		}
	case models.SubscriptionPastDue:
		p.PastDue = true
		if p.ProUntil = b.GraceEndsAt; p.ProUntil != nil && p.EndsAt != nil && p.EndsAt.Before(*p.ProUntil) {
			p.ProUntil = p.EndsAt
		}
	case models.SubscriptionUnpaid:
		p.PastDue, p.GivenUp = true, true
	case models.SubscriptionIncomplete:
		p.UnderWay = p.open() && p.Charging
	}
	if p.open() && p.Charging && (p.Paid == "" || !p.PastDue && !p.UnderWay) {
		p.Idle, p.PastDue, p.UnderWay = true, false, false
	}
}

// open reports whether paying would change the plan.
func (p *planView) open() bool {
	return p.Plan == models.PlanFree && !p.Granted && !p.Suspended
}

func (h *Handler) plan(w http.ResponseWriter, r *http.Request, v *visitor) error {
	p, err := h.standing(r, v)
	if err != nil {
		return err
	}
	h.show(w, r, view{Page: "plan", Title: "Plan and billing", Section: "dashboard", Sub: "plan", Private: true, Data: p})
	return nil
}

// upgrade redirects to checkout. Visitors who are signed out sign in first.
func (h *Handler) upgrade(w http.ResponseWriter, r *http.Request) error {
	v := visitorOf(r)
	if err := unknown(r); err != nil {
		return err
	}
	if v == nil {
		return seeOther(w, r, askAgain(intentUpgrade))
	}
	return h.toCheckout(w, r, v.Account.ID)
}

// toCheckout redirects to the account's checkout. A second click leads to the same one.
func (h *Handler) toCheckout(w http.ResponseWriter, r *http.Request, accountID string) error {
	if h.deps.Billing == nil {
		return seeOther(w, r, "/dashboard/plan")
	}
	if h.tooManyAsks(r, accountID) {
		return h.tooOften(w, r, time.Minute)
	}
	session, err := h.deps.Billing.Checkout(r.Context(), accountID)
	if errors.Is(err, billing.ErrUnderWay) {
		return seeOther(w, r, "/dashboard/plan?from=payment")
	}
	if models.ErrorCode(err) == models.CodeConflict { // already paid, or nothing is for sale: the plan page says which
		h.deps.Log.InfoContext(r.Context(), "no checkout is opened", "account", accountID, "reason", err)
		return seeOther(w, r, "/dashboard/plan?from=checkout")
	}
	if err != nil {
		return err
	}
	return h.toStripe(w, r, session.URL)
}

func (h *Handler) portal(w http.ResponseWriter, r *http.Request, v *visitor) error {
	if h.deps.Billing == nil {
		return seeOther(w, r, "/dashboard/plan")
	}
	if h.tooManyAsks(r, v.Account.ID) {
		return h.tooOften(w, r, time.Minute)
	}
	address, err := h.deps.Billing.Portal(r.Context(), v.Account.ID)
	if models.ErrorCode(err) == models.CodeConflict {
		return seeOther(w, r, "/dashboard/plan")
	}
	if err != nil {
		return err
	}
	return h.toStripe(w, r, address)
}

// returnPage is the data of the page that checkout returns to.
type returnPage struct {
	Arrival   billing.Arrival
	Plan      models.Plan
	Limit     int
	Granted   bool // the operator has set the plan: the payment does not change it
	Suspended bool
	HasKeys   bool
	Again     string // this page's URL
}

// billingReturn shows the result of a checkout. It asks Stripe, so it is right whether the webhook has arrived, arrives
// later, or never does.
func (h *Handler) billingReturn(w http.ResponseWriter, r *http.Request, v *visitor) error {
	sessionID := r.URL.Query().Get("session_id")
	if h.deps.Billing == nil || sessionID == "" {
		return seeOther(w, r, "/dashboard/plan")
	}
	if h.tooManyAsks(r, v.Account.ID) {
		return h.tooOften(w, r, time.Minute)
	}
	asked, cancel := asking(r.Context())
	defer cancel()
	arrival, now, err := h.deps.Billing.Return(asked, v.Account.ID, sessionID)
	page := returnPage{Arrival: arrival, Again: r.URL.RequestURI()}
	switch code := models.ErrorCode(err); {
	case err == nil:
		v.Account = now.Account
	case code == models.CodeUnavailable: // perhaps paid: it cannot be found out now
		h.deps.Log.WarnContext(r.Context(), "what became of a checkout cannot be asked now", "account", v.Account.ID, "error", err)
		page.Arrival = billing.ArrivedPending
	case code == models.CodeNotFound: // perhaps somebody else's, which is not told
		h.failPage(w, r, failure{http.StatusNotFound, "This account has no such checkout", "You are signed in as " + v.Email() +
			". If you have just paid for another account, sign in with its email address: its plan page shows the payment."})
		return nil
	default:
		return err
	}
	if page.Arrival == billing.ArrivedLate {
		return seeOther(w, r, "/dashboard/plan")
	}
	hasKeys, err := h.deps.Store.HasKeys(r.Context(), v.Account.ID)
	if err != nil {
		return err
	}
	plan, source := v.Account.Plan()
	page.Plan, page.Granted, page.Suspended = plan, source == models.SourceOperator, v.Account.Status == models.AccountSuspended
	page.HasKeys, page.Limit = hasKeys, v.Account.DailyLimit(h.deps.Plans)
	h.show(w, r, view{Page: "billing-return", Title: "Your upgrade", Section: "dashboard", Sub: "plan", Private: true, Data: page})
	return nil
}
