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
		Object json.RawMessage `json:"object"`
	} `json:"data"`
	about subject
}

// subject is the object that an event is about. Its kinds are many and to come: what is not as expected names nobody.
type subject struct {
	ID       name `json:"id"`
	Object   name `json:"object"`
	Customer name `json:"customer"`
}

// name is an id, or an object that has one; "" if it is anything else.
type name string

// UnmarshalJSON reads either.
func (x *name) UnmarshalJSON(b []byte) error {
	var id string
	if json.Unmarshal(b, &id) != nil {
		var object struct {
			ID string `json:"id"`
		}
		_ = json.Unmarshal(b, &object) // something else names nobody
		id = object.ID
	}
	if plain(id) {
		*x = name(id)
	}
	return nil
}

// mostName is how long the words of an event may be; Stripe says 255 of its ids.
const mostName = 255

// plain tells whether a word can be kept: databases take no NUL, and an index no text of a megabyte.
func plain(word string) bool {
	return len(word) <= mostName && !strings.ContainsFunc(word, unicode.IsControl)
}

var (
	eventID    = regexp.MustCompile(`^evt_[0-9A-Za-z_]+$`)
	errNoEvent = errors.New("the body is not a Stripe event")
	lastOfTime = time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC).Unix() // that databases know
)

func parseEvent(body []byte) (event, error) {
	var e event
	if err := json.Unmarshal(body, &e); err != nil {
		return e, errNoEvent
	}
	if e.Object != "event" || !eventID.MatchString(e.ID) || e.Type == "" || e.Created < 0 || e.Created > lastOfTime {
		return e, errNoEvent
	}
	if !plain(e.ID) || !plain(e.Type) || !plain(e.APIVersion) {
		return e, errNoEvent
	}
	_ = json.Unmarshal(e.Data.Object, &e.about) // no object, or a strange one: the event names nobody
	return e, nil
}

// row is e for the inbox.
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
