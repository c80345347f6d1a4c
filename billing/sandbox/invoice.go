package sandbox

import (
	"fmt"
	"maps"
)

// invoice is what a subscription bills for one period.
type invoice struct {
	head

	Customer     string            `json:"customer"`
	Subscription string            `json:"subscription"`
	Details      map[string]string `json:"details"` // the subscription's metadata when the invoice was made
	Reason       string            `json:"billing_reason"`
	Status       string            `json:"status"`
	Currency     string            `json:"currency"`
	Total        int64             `json:"total"`
	Lines        []line            `json:"lines"`
	Number       string            `json:"number"`
	Charge       string            `json:"charge"`
	Attempts     int               `json:"attempts"`
	NextAttempt  int64             `json:"next_attempt"`
	SettlesAt    int64             `json:"settles_at"` // when a bank decides
	FinalizedAt  int64             `json:"finalized_at"`
	PaidAt       int64             `json:"paid_at"`
	VoidedAt     int64             `json:"voided_at"`
	Start        int64             `json:"start"`
	End          int64             `json:"end"`
}

// line is one line of an invoice.
type line struct {
	ID       string `json:"id"`
	Item     string `json:"item"`
	Price    string `json:"price"`
	Quantity int64  `json:"quantity"`
	Amount   int64  `json:"amount"`
	Text     string `json:"text"`
}

// The states of invoices.
const (
	invoiceDraft = "draft"
	invoiceOpen  = "open"
	invoicePaid  = "paid"
	invoiceVoid  = "void"
)

func (i *invoice) owner() string { return i.Customer }

func (i *invoice) due(_ *Sandbox) int64 {
	switch {
	case i.Status != invoiceOpen:
		return 0
	case i.SettlesAt != 0:
		return i.SettlesAt
	default:
		return i.NextAttempt
	}
}

func (i *invoice) run(s *Sandbox) {
	if i.SettlesAt != 0 {
		ch, _ := find[*charge](s, i.Charge)
		s.settle(i, ch.Card != BankFails)
		return
	}
	s.attempt(i, false)
}

func (i *invoice) paid() int64 {
	if i.Status == invoicePaid {
		return i.Total
	}
	return 0
}

func (i *invoice) render(s *Sandbox) object {
	c, _ := find[*customer](s, i.Customer)
	return object{
		"id": i.ID, "object": "invoice", "created": i.Created, "livemode": s.live, "metadata": meta(i.Metadata),
		"account_country": "US", "account_name": "Sandbox", "account_tax_ids": nil, "amount_due": i.Total, "amount_paid": i.paid(),
		"amount_remaining": i.Total - i.paid(), "amount_shipping": 0, "application": nil, "application_fee_amount": nil,
		"attempt_count": i.Attempts, "attempted": i.Attempts > 0 || i.Status == invoicePaid, "auto_advance": i.NextAttempt != 0,
		"automatic_tax": object{"enabled": false, "liability": nil, "status": nil}, "billing_reason": i.Reason, "charge": orNull(i.Charge),
		"collection_method": "charge_automatically", "currency": i.Currency, "custom_fields": nil, "customer": i.Customer,
		"customer_address": nil, "customer_email": orNull(c.Email), "customer_name": orNull(c.Name), "customer_phone": nil,
		"customer_shipping": nil, "customer_tax_exempt": "none", "customer_tax_ids": []any{}, "default_payment_method": nil,
		"default_source": nil, "default_tax_rates": []any{}, "description": nil, "discount": nil, "discounts": []any{}, "due_date": nil,
		"effective_at": orNull(i.FinalizedAt), "ending_balance": nil, "footer": nil, "from_invoice": nil, "hosted_invoice_url": nil,
		"invoice_pdf": nil, "issuer": object{"type": "self"}, "last_finalization_error": nil, "latest_revision": nil,
		"lines":                sublist("/v1/invoices/"+i.ID+"/lines", i.renderLines(s)),
		"next_payment_attempt": orNull(i.NextAttempt), "number": orNull(i.Number), "on_behalf_of": nil, "paid": i.Status == invoicePaid,
		"paid_out_of_band": false, "payment_intent": nil,
		"payment_settings": object{"default_mandate": nil, "payment_method_options": nil, "payment_method_types": nil},
		"period_end":       i.End, "period_start": i.Start, "post_payment_credit_notes_amount": 0, "pre_payment_credit_notes_amount": 0,
		"quote": nil, "receipt_number": nil, "rendering": nil, "shipping_cost": nil, "shipping_details": nil, "starting_balance": 0,
		"statement_descriptor": nil, "status": i.Status, "status_transitions": object{
			"finalized_at": orNull(i.FinalizedAt), "marked_uncollectible_at": nil, "paid_at": orNull(i.PaidAt), "voided_at": orNull(i.VoidedAt),
		},
		"subscription": orNull(i.Subscription), "subscription_details": object{"metadata": meta(i.Details)}, "subtotal": i.Total, "subtotal_excluding_tax": i.Total,
		"tax": nil, "test_clock": nil, "total": i.Total, "total_discount_amounts": []any{}, "total_excluding_tax": i.Total,
		"total_tax_amounts": []any{}, "transfer_data": nil, "webhooks_delivered_at": i.Created,
	}
}

func (i *invoice) renderLines(s *Sandbox) []any {
	data := make([]any, 0, len(i.Lines))
	for _, l := range i.Lines {
		p, _ := find[*price](s, l.Price)
		data = append(data, object{
			"id": l.ID, "object": "line_item", "livemode": s.live, "metadata": object{}, "amount": l.Amount, "amount_excluding_tax": l.Amount,
			"currency": i.Currency, "description": l.Text, "discount_amounts": []any{}, "discountable": true, "discounts": []any{},
			"invoice": i.ID, "period": object{"start": i.Start, "end": i.End}, "price": p.render(s), "proration": false,
			"proration_details": object{"credited_items": nil}, "quantity": l.Quantity, "subscription": i.Subscription,
			"subscription_item": l.Item, "tax_amounts": []any{}, "tax_rates": []any{}, "type": "subscription",
			"unit_amount_excluding_tax": fmt.Sprint(p.Amount),
		})
	}
	return data
}

// newInvoice makes a draft for a subscription's current period; free means a trial.
func (s *Sandbox) newInvoice(sub *subscription, reason string, free bool) *invoice {
	inv := &invoice{
		Customer: sub.Customer, Subscription: sub.ID, Reason: reason, Status: invoiceDraft, Currency: sub.Currency,
		Details: maps.Clone(sub.Metadata), Start: sub.PeriodStart, End: sub.PeriodEnd,
	}
	for _, it := range sub.Items {
		p, _ := find[*price](s, it.Price)
		prod, _ := find[*product](s, p.Product)
		l := line{
			ID: s.newID("il_", longID), Item: it.ID, Price: it.Price, Quantity: it.Quantity, Amount: p.Amount * it.Quantity,
			Text: fmt.Sprintf("%d × %s (at %s / %s)", it.Quantity, prod.Name, money(p.Amount, p.Currency), p.Interval),
		}
		if free {
			l.Amount, l.Text = 0, "Trial period for "+prod.Name
		}
		inv.Total += l.Amount
		inv.Lines = append(inv.Lines, l)
	}
	insert(s, &s.d.Invoices, inv, "in_", longID)
	return inv
}

// finalize opens a draft: it gets its number.
func (s *Sandbox) finalize(inv *invoice) {
	c, _ := find[*customer](s, inv.Customer)
	c.Invoices++
	inv.Number = fmt.Sprintf("%s-%04d", c.prefix(), c.Invoices)
	inv.Status, inv.FinalizedAt, s.dirty = invoiceOpen, s.now(), true
	s.emit("invoice.finalized", inv.render(s), nil)
}

func listInvoices(s *Sandbox, r *request) (object, error) {
	sub := r.p.str("subscription")
	return list(s, r, "invoice", s.d.Invoices.rows, func(i *invoice) bool { return sub == "" || i.Subscription == sub })
}
