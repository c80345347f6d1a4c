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
	TrialNoCard string `json:"trial_no_card"` // what happens at its end without a card: create_invoice, cancel, pause

	AtPeriodEnd bool   `json:"at_period_end"`
	CancelAt    int64  `json:"cancel_at"`
	CanceledAt  int64  `json:"canceled_at"`
	EndedAt     int64  `json:"ended_at"`
	Reason      string `json:"reason"`
	Comment     string `json:"comment"`
	Feedback    string `json:"feedback"`

	Latest      string `json:"latest_invoice"`
	Method      string `json:"method"`
	Description string `json:"description"`
	Pause       string `json:"pause"` // behavior of pause_collection
	ResumesAt   int64  `json:"resumes_at"`
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
	var pause any
	if sub.Pause != "" {
		pause = object{"behavior": sub.Pause, "resumes_at": orNull(sub.ResumesAt)}
	}
	missing := sub.TrialNoCard
	if missing == "" {
		missing = "create_invoice"
	}
	return object{
		"id": sub.ID, "object": "subscription", "created": sub.Created, "livemode": s.live, "metadata": meta(sub.Metadata),
		"application": nil, "application_fee_percent": nil, "automatic_tax": object{"enabled": false, "liability": nil},
		"billing_cycle_anchor": sub.Anchor, "billing_cycle_anchor_config": nil, "billing_thresholds": nil, "cancel_at": orNull(cancelAt),
		"cancel_at_period_end": sub.AtPeriodEnd, "canceled_at": orNull(sub.CanceledAt),
		"cancellation_details": object{"comment": orNull(sub.Comment), "feedback": orNull(sub.Feedback), "reason": orNull(sub.Reason)},
		"collection_method":    "charge_automatically", "currency": sub.Currency, "current_period_end": sub.PeriodEnd,
		"current_period_start": sub.PeriodStart, "customer": sub.Customer, "days_until_due": nil, "default_payment_method": orNull(sub.Method),
		"default_source": nil, "default_tax_rates": []any{}, "description": orNull(sub.Description), "discount": nil, "ended_at": orNull(sub.EndedAt),
		"items":          sublist("/v1/subscription_items?subscription="+sub.ID, items),
		"latest_invoice": orNull(sub.Latest), "next_pending_invoice_item_invoice": nil, "on_behalf_of": nil, "pause_collection": pause,
		"payment_settings":              object{"payment_method_options": nil, "payment_method_types": nil, "save_default_payment_method": "off"},
		"pending_invoice_item_interval": nil, "pending_setup_intent": nil, "pending_update": nil, "schedule": nil, "start_date": sub.Created,
		"status": sub.Status, "test_clock": nil, "transfer_data": nil, "trial_end": orNull(sub.TrialEnd),
		"trial_settings": object{"end_behavior": object{"missing_payment_method": missing}}, "trial_start": orNull(sub.TrialStart),
	}
}

func (it *item) render(s *Sandbox, sub string) object {
	p, _ := find[*price](s, it.Price)
	return object{
		"id": it.ID, "object": "subscription_item", "created": it.Created, "metadata": meta(it.Metadata), "billing_thresholds": nil,
		"price": p.render(s), "quantity": it.Quantity, "subscription": sub, "tax_rates": []any{},
	}
}

func listSubscriptions(s *Sandbox, r *request) (object, error) {
	id := r.p.str("customer")
	if id != "" {
		if _, err := need[*customer](s, "customer", id, "customer"); err != nil {
			return nil, err
		}
	}
	return s.pageOfSubscriptions(r, id)
}

func listCustomerSubscriptions(s *Sandbox, r *request) (object, error) {
	if _, err := s.customer(r.id, ""); err != nil {
		return nil, err
	}
	return s.pageOfSubscriptions(r, r.id)
}

// pageOfSubscriptions returns a page of all subscriptions that are not canceled, or of those with the status asked for.
func (s *Sandbox) pageOfSubscriptions(r *request, customer string) (object, error) {
	status := r.p.enum("status", append([]string{"", "all", "ended"}, statuses...)...)
	of := r.p.str("price")
	r.p.enum("collection_method", "charge_automatically", "send_invoice")
	created, start, end := r.p.span("created"), r.p.span("current_period_start"), r.p.span("current_period_end")
	return list(s, r, "subscription", s.d.Subs.of(customer), func(sub *subscription) bool {
		switch status {
		case "":
			if sub.Status == statusCanceled {
				return false
			}
		case "all":
		case "ended":
			if !sub.ended() {
				return false
			}
		default:
			if sub.Status != status {
				return false
			}
		}
		return created(sub.Created) && start(sub.PeriodStart) && end(sub.PeriodEnd) && (of == "" || sub.has(of))
	})
}

func (sub *subscription) has(price string) bool {
	for i := range sub.Items {
		if sub.Items[i].Price == price {
			return true
		}
	}
	return false
}
