package sandbox

// subscription is a customer's subscription.
type subscription struct {
	head

	Customer    string `json:"customer"`
	Status      string `json:"status"`
	Items       []item `json:"items"`
	Currency    string `json:"currency"`
	Anchor      int64  `json:"anchor"`
	PeriodStart int64  `json:"period_start"`
	PeriodEnd   int64  `json:"period_end"`
	TrialStart  int64  `json:"trial_start"`
	TrialEnd    int64  `json:"trial_end"`

	AtPeriodEnd bool   `json:"at_period_end"`
	CancelAt    int64  `json:"cancel_at"`
	CanceledAt  int64  `json:"canceled_at"`
	EndedAt     int64  `json:"ended_at"`
	Reason      string `json:"reason"`
	Comment     string `json:"comment"`

	Latest string `json:"latest_invoice"`
	Card   Card   `json:"card"`
}

// item is one price of a subscription.
type item struct {
	head

	Price    string `json:"price"`
	Quantity int64  `json:"quantity"`
}

// The eight states.
const (
	statusIncomplete = "incomplete"
	statusExpired    = "incomplete_expired"
	statusTrialing   = "trialing"
	statusActive     = "active"
	statusPastDue    = "past_due"
	statusCanceled   = "canceled"
	statusUnpaid     = "unpaid"
	statusPaused     = "paused"
)

var statuses = []string{statusIncomplete, statusExpired, statusTrialing, statusActive, statusPastDue, statusCanceled, statusUnpaid, statusPaused}

func (sub *subscription) owner() string { return sub.Customer }

// ended reports whether the subscription has ended for good.
func (sub *subscription) ended() bool {
	return sub.Status == statusCanceled || sub.Status == statusExpired
}

func (sub *subscription) price(s *Sandbox) *price {
	p, _ := find[*price](s, sub.Items[0].Price)
	return p
}

func (sub *subscription) render(s *Sandbox) object {
	items := make([]any, 0, len(sub.Items))
	for i := range sub.Items {
		items = append(items, sub.Items[i].render(s, sub.ID))
	}
	cancelAt := sub.CancelAt
	if sub.AtPeriodEnd {
		cancelAt = sub.PeriodEnd
	}
	return object{
		"id": sub.ID, "object": "subscription", "created": sub.Created, "livemode": s.live, "metadata": meta(sub.Metadata),
		"application": nil, "application_fee_percent": nil, "automatic_tax": object{"enabled": false, "liability": nil},
		"billing_cycle_anchor": sub.Anchor, "billing_cycle_anchor_config": nil, "billing_thresholds": nil, "cancel_at": orNull(cancelAt),
		"cancel_at_period_end": sub.AtPeriodEnd, "canceled_at": orNull(sub.CanceledAt),
		"cancellation_details": object{"comment": orNull(sub.Comment), "feedback": nil, "reason": orNull(sub.Reason)},
		"collection_method":    "charge_automatically", "currency": sub.Currency, "current_period_end": sub.PeriodEnd,
		"current_period_start": sub.PeriodStart, "customer": sub.Customer, "days_until_due": nil, "default_payment_method": sub.Card.method(),
		"default_source": nil, "default_tax_rates": []any{}, "description": nil, "discount": nil, "ended_at": orNull(sub.EndedAt),
		"items":          sublist("/v1/subscription_items?subscription="+sub.ID, items),
		"latest_invoice": orNull(sub.Latest), "next_pending_invoice_item_invoice": nil, "on_behalf_of": nil, "pause_collection": nil,
		"payment_settings":              object{"payment_method_options": nil, "payment_method_types": nil, "save_default_payment_method": "off"},
		"pending_invoice_item_interval": nil, "pending_setup_intent": nil, "pending_update": nil, "schedule": nil, "start_date": sub.Created,
		"status": sub.Status, "test_clock": nil, "transfer_data": nil, "trial_end": orNull(sub.TrialEnd),
		"trial_settings": object{"end_behavior": object{"missing_payment_method": "create_invoice"}}, "trial_start": orNull(sub.TrialStart),
	}
}

func (it *item) render(s *Sandbox, sub string) object {
	p, _ := find[*price](s, it.Price)
	return object{
		"id": it.ID, "object": "subscription_item", "created": it.Created, "metadata": meta(it.Metadata), "billing_thresholds": nil,
		"price": p.render(s), "quantity": it.Quantity, "subscription": sub, "tax_rates": []any{},
	}
}

// listSubscriptions returns a page of all subscriptions with status=all, and otherwise of those that are not canceled.
func listSubscriptions(s *Sandbox, r *request) (object, error) {
	id := r.p.str("customer")
	if id != "" {
		if _, err := need[*customer](s, "customer", id, "customer"); err != nil {
			return nil, err
		}
	}
	all := r.p.enum("status", "", "all") == "all"
	return list(s, r, "subscription", s.d.Subs.of(id), func(sub *subscription) bool { return all || sub.Status != statusCanceled })
}
