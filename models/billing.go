package models

import "time"

// BillingAccount is what is known about an account's payments: its Stripe customer, its open checkout, and the
// subscription that counted at the last sync. Stripe has the truth; this is what was last read there.
type BillingAccount struct {
	AccountID  string  `gorm:"primaryKey"`
	CustomerID *string // cus_…; nil before the first checkout, or if Stripe says that the customer was deleted

	Attempt          int     // part of the customer's idempotency key: a new one after the customer was deleted
	SessionID        *string // cs_… of the newest checkout; nil = none is open
	SessionURL       *string
	SessionExpiresAt *time.Time

	SubscriptionID    *string // sub_… that gives the plan, or the newest that once did
	Status            *string // Stripe's; but incomplete if it is active and nothing was paid yet
	PriceID           *string
	Quantity          *int64     // how many times the price is charged; nil = not read yet
	PeriodEnd         *time.Time // when it renews, or ends
	CancelAtPeriodEnd bool       // it ends then: with its period, or on a date that was set
	PastDueSince      *time.Time // if it is active and a bank decides on its renewal: when it was last seen not past due
	GraceEndsAt       *time.Time // when a past-due subscription stops giving its plan; nil unless it is past due and gives it
	SyncedAt          *time.Time
}

// DropSession forgets the newest checkout.
func (b *BillingAccount) DropSession() { b.SessionID, b.SessionURL, b.SessionExpiresAt = nil, nil, nil }

// Subscription states, as Stripe names them.
// https://docs.stripe.com/api/subscriptions/object#subscription_object-status
const (
	SubscriptionIncomplete        = "incomplete"
	SubscriptionIncompleteExpired = "incomplete_expired"
	SubscriptionTrialing          = "trialing"
	SubscriptionActive            = "active"
	SubscriptionPastDue           = "past_due"
	SubscriptionCanceled          = "canceled"
	SubscriptionUnpaid            = "unpaid"
	SubscriptionPaused            = "paused"
)

// SubscriptionOver reports whether a subscription in that state is finished for good.
func SubscriptionOver(status string) bool {
	return status == SubscriptionCanceled || status == SubscriptionIncompleteExpired
}

// GoesOn reports whether the subscription, as last read, has not ended: it charges, or may.
func (b *BillingAccount) GoesOn() bool {
	return b.SubscriptionID != nil && b.Status != nil && !SubscriptionOver(*b.Status)
}

// Payable reports whether there is a checkout that can be paid at now, or that might have been
// paid since it was last read.
func (b *BillingAccount) Payable(now time.Time) bool {
	return b.SessionID != nil && b.SessionExpiresAt != nil && now.Before(*b.SessionExpiresAt)
}

// InCheckout reports whether the subscription is only what an open checkout began: a card was declined there, or the
// customer left halfway. No payment is under way then, and the checkout can be continued.
func (b *BillingAccount) InCheckout(now time.Time) bool {
	return b.Status != nil && *b.Status == SubscriptionIncomplete && b.Payable(now)
}

// KnownPrice is a Stripe price that gives a plan. Prices are never forgotten: a customer may hold an old one.
type KnownPrice struct {
	PriceID    string `gorm:"primaryKey"`
	ProductID  string
	Plan       Plan
	UnitAmount int64  // cents
	Currency   string // lower case
	Current    bool   // what checkout sells
	Livemode   bool
	AddedAt    time.Time
}

// Sold reports whether checkout sells Pro at this price in its mode.
func (p KnownPrice) Sold() bool { return p.Current && p.Plan == PlanPro }

// EventState is the processing state of a webhook event.
type EventState string

// The states of an event. Failed ones are dead letters: they were tried often enough and wait for an operator.
const (
	EventPending EventState = "pending"
	EventDone    EventState = "done"
	EventIgnored EventState = "ignored"
	EventFailed  EventState = "failed"
)

// StripeEvent is a row of the webhook inbox. Of the event itself it keeps only what identifies the customer; everything
// about the customer is read from Stripe.
type StripeEvent struct {
	ID         string `gorm:"primaryKey"` // evt_…
	Type       string
	Livemode   bool
	APIVersion string
	ObjectID   string
	CustomerID string // "" = the event has none
	AccountID  string // "" = none of ours
	State      EventState
	Attempts   int
	NextAt     time.Time // when it is tried, or tried again
	Outcome    string    // what was done, or why not
	CreatedAt  time.Time // by Stripe's clock
	ReceivedAt time.Time
	RetriedAt  *time.Time // by an operator, last time; nil = never
	DoneAt     *time.Time
}

// FlagKind is why an operator should look at an account.
type FlagKind string

// The kinds of flag.
const (
	FlagDoublePayment  FlagKind = "double_payment"          // a second subscription was paid; it was cancelled and wants a refund
	FlagSecondCustomer FlagKind = "second_customer"         // another Stripe customer names this account, or has its address
	FlagUnknownPrice   FlagKind = "unknown_price"           // a live subscription to a price that gives no plan
	FlagQuantity       FlagKind = "quantity"                // a subscription charges its price more than once, for one plan
	FlagRefund         FlagKind = "refund"                  // a payment was refunded; the plan is unchanged
	FlagDispute        FlagKind = "dispute"                 // a payment is disputed; the plan is unchanged
	FlagWrongMode      FlagKind = "wrong_mode"              // a test event came to a live server, or the other way round
	FlagSuspended      FlagKind = "suspended_subscription"  // suspended while a subscription goes on charging
	FlagSubscriptions  FlagKind = "several_subscriptions"   // more than one subscription that is not over, but no double payment
	FlagPaidLate       FlagKind = "paid_after_end"          // an invoice was paid when its subscription had ended
	FlagClosed         FlagKind = "closed_but_subscription" // a closed account had a live subscription; it was cancelled, and may want a refund
)

// AccountFlag asks an operator to look at an account. A flag is raised only once per kind and reference; after it was
// cleared, only a new act of somebody raises it again.
type AccountFlag struct {
	ID        int64 `gorm:"primaryKey"`
	AccountID string
	Kind      FlagKind
	Ref       string // the Stripe object: sub_…, ch_…, dp_…
	Detail    string
	RaisedAt  time.Time
	ClearedAt *time.Time
}
