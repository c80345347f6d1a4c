package billing

import (
	"encoding/json"
	"errors"
	"strings"
	"time"

	"lottery/models"
)

// event is the little that is read of a webhook's body: what names the customer. It is the same in every version of
// the API; everything else is asked of Stripe in the version that the SDK speaks.
type event struct {
	ID         string `json:"id"`
	Object     string `json:"object"`
	Type       string `json:"type"`
	Livemode   bool   `json:"livemode"`
	APIVersion string `json:"api_version"`
	Created    int64  `json:"created"`
	Data       struct {
		Object struct {
			ID       string     `json:"id"`
			Object   string     `json:"object"`
			Customer expandable `json:"customer"`
		} `json:"object"`
	} `json:"data"`
}

// expandable is an id, or an object that has one.
type expandable string

// UnmarshalJSON reads either.
func (x *expandable) UnmarshalJSON(b []byte) error {
	var id string
	if json.Unmarshal(b, &id) == nil {
		*x = expandable(id)
		return nil
	}
	var object struct {
		ID string `json:"id"`
	}
	_ = json.Unmarshal(b, &object) // something else names nobody
	*x = expandable(object.ID)
	return nil
}

func parseEvent(body []byte) (event, error) {
	var e event
	if err := json.Unmarshal(body, &e); err != nil || e.Object != "event" || !strings.HasPrefix(e.ID, "evt_") || e.Type == "" {
		return e, errors.New("the body is not an event of Stripe's")
	}
	return e, nil
}

// row is e for the inbox.
func (e *event) row() models.StripeEvent {
	o := &e.Data.Object
	row := models.StripeEvent{
		ID: e.ID, Type: e.Type, Livemode: e.Livemode, APIVersion: e.APIVersion, ObjectID: o.ID,
		CustomerID: string(o.Customer), CreatedAt: time.Unix(e.Created, 0).UTC(),
	}
	if o.Object == "customer" {
		row.CustomerID = o.ID
	}
	return row
}

// Events is the types of events that something follows from: those that set-up subscribes to.
func Events() []string {
	return []string{
		"charge.dispute.closed", "charge.dispute.created", "charge.dispute.funds_withdrawn",
		"charge.refunded",
		"checkout.session.async_payment_failed", "checkout.session.async_payment_succeeded", "checkout.session.completed",
		"customer.deleted",
		"customer.subscription.created", "customer.subscription.deleted", "customer.subscription.paused",
		"customer.subscription.resumed", "customer.subscription.updated",
		"invoice.paid", "invoice.payment_failed",
	}
}

// handled tells whether something may follow from events of a type: any that tells of a subscription, an invoice, a
// checkout, or of money that goes back.
func handled(kind string) bool {
	for _, prefix := range []string{"customer.subscription.", "invoice.", "checkout.session.", "charge.dispute.", "charge.refund"} {
		if strings.HasPrefix(kind, prefix) {
			return true
		}
	}
	return kind == "customer.deleted"
}
