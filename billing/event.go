package billing

import (
	"encoding/json"
	"errors"
	"regexp"
	"strings"
	"time"
	"unicode"

	"lottery/models"
)

// event is the little that is read from a webhook's body: enough to find the customer. These fields are the same in
// every API version; everything else is fetched from Stripe in the version that the SDK speaks.
type event struct {
	ID         string `json:"id"`
	Object     string `json:"object"`
	Type       string `json:"type"`
	Livemode   bool   `json:"livemode"`
	APIVersion string `json:"api_version"`
	Created    int64  `json:"created"`
	Data       struct {
		Object json.RawMessage `json:"object"`
	} `json:"data"`
	about subject
}

// subject is the object that an event is about. There are many kinds, and there will be more: an unexpected one names
// nobody.
type subject struct {
	ID       name `json:"id"`
	Object   name `json:"object"`
	Customer name `json:"customer"`
}

// name is an id, given as a string or as an object with an id; "" if it is anything else.
type name string

// UnmarshalJSON reads both forms, and never fails on valid JSON.
func (x *name) UnmarshalJSON(b []byte) error {
	var id string
	if json.Unmarshal(b, &id) != nil {
		var object struct {
			ID string `json:"id"`
		}
		_ = json.Unmarshal(b, &object) // anything else names nobody
		id = object.ID
	}
	if plain(id) {
		*x = name(id)
	}
	return nil
}

// mostName is the longest accepted id, type or version, in bytes; Stripe's ids have at most 255.
const mostName = 255

// plain reports whether a word can be stored: databases refuse NUL, and an index refuses a megabyte of text.
func plain(word string) bool {
	return len(word) <= mostName && !strings.ContainsFunc(word, unicode.IsControl)
}

var (
	eventID    = regexp.MustCompile(`^evt_[0-9A-Za-z_]+$`)
	errNoEvent = errors.New("the body is not a Stripe event")
)

func parseEvent(body []byte) (event, error) {
	var e event
	if err := json.Unmarshal(body, &e); err != nil {
		return e, errNoEvent
	}
	if e.Object != "event" || !eventID.MatchString(e.ID) || e.Type == "" || e.Created < 0 || e.Created > lastSecond {
		return e, errNoEvent
	}
	if !plain(e.ID) || !plain(e.Type) || !plain(e.APIVersion) {
		return e, errNoEvent
	}
	_ = json.Unmarshal(e.Data.Object, &e.about) // a missing or unexpected object: the event names nobody
	return e, nil
}

// row returns e as an inbox row.
func (e *event) row() models.StripeEvent {
	row := models.StripeEvent{
		ID: e.ID, Type: e.Type, Livemode: e.Livemode, APIVersion: e.APIVersion, ObjectID: string(e.about.ID),
		CustomerID: string(e.about.Customer), CreatedAt: time.Unix(e.Created, 0).UTC(),
	}
	if e.about.Object == "customer" {
		row.CustomerID = row.ObjectID
	}
	return row
}

// Events returns the types of events that have an effect. Setup subscribes to them.
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

// handled reports whether events of a type may have an effect: all that concern a subscription, an invoice, a checkout,
// or money going back, and the deletion of a customer.
func handled(kind string) bool {
	for _, prefix := range []string{"customer.subscription.", "invoice.", "checkout.session.", "charge.dispute.", "charge.refund"} {
		if strings.HasPrefix(kind, prefix) {
			return true
		}
	}
	return kind == "customer.deleted"
}
