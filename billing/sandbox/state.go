package sandbox

import (
	"maps"
	"slices"
	"time"
)

// Subscription is the state of a subscription. The types and methods of this file read the sandbox without its API.
type Subscription struct {
	ID          string    `json:"id"`
	Customer    string    `json:"customer"`
	Status      string    `json:"status"`
	Prices      []string  `json:"prices"`
	Products    []string  `json:"products"`
	AtPeriodEnd bool      `json:"cancel_at_period_end"`
	PeriodEnd   time.Time `json:"current_period_end"`
	Created     time.Time `json:"created"`
	Latest      string    `json:"latest_invoice"`
}

// Customer is the state of a customer.
type Customer struct {
	ID       string            `json:"id"`
	Email    string            `json:"email"`
	Metadata map[string]string `json:"metadata"`
	Deleted  bool              `json:"deleted"`
	Card     Card              `json:"card"`
}

// Session is the state of a checkout session.
type Session struct {
	ID           string `json:"id"`
	Customer     string `json:"customer"`
	Reference    string `json:"client_reference_id"`
	Status       string `json:"status"`
	Payment      string `json:"payment_status"`
	Subscription string `json:"subscription"`
	URL          string `json:"url"`
}

// Invoice is the state of an invoice.
type Invoice struct {
	ID           string    `json:"id"`
	Customer     string    `json:"customer"`
	Subscription string    `json:"subscription"`
	Status       string    `json:"status"`
	Total        int64     `json:"total"`
	Charge       string    `json:"charge"`
	NextAttempt  time.Time `json:"next_attempt"` // zero = none
}

// Event is an event that was generated, with its deliveries.
type Event struct {
	ID         string     `json:"id"`
	Type       string     `json:"type"`
	Created    time.Time  `json:"created"`
	Object     string     `json:"object"` // its id
	Deliveries []Delivery `json:"deliveries"`
}

// Delivery is the state of an event's delivery to one endpoint.
type Delivery struct {
	Endpoint string    `json:"endpoint"`
	State    string    `json:"state"` // pending, delivered, failed, dropped, held
	Next     time.Time `json:"next"`  // the next attempt, zero = none
	Attempts []Attempt `json:"attempts"`
}

// Subscriptions returns all subscriptions of a customer, oldest first; "" = everybody's.
func (s *Sandbox) Subscriptions(customer string) []Subscription {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.catchUp()
	var out []Subscription
	for _, sub := range s.d.Subs.of(customer) {
		v := Subscription{
			ID: sub.ID, Customer: sub.Customer, Status: sub.Status, AtPeriodEnd: sub.AtPeriodEnd, PeriodEnd: instant(sub.PeriodEnd),
			Created: instant(sub.Created), Latest: sub.Latest,
		}
		for _, it := range sub.Items {
			p, _ := find[*price](s, it.Price)
			v.Prices, v.Products = append(v.Prices, it.Price), append(v.Products, p.Product)
		}
		out = append(out, v)
	}
	return out
}

// Customers returns all customers ever made, oldest first.
func (s *Sandbox) Customers() []Customer {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []Customer
	for _, c := range s.d.Customers.rows {
		out = append(out, Customer{ID: c.ID, Email: c.Email, Metadata: maps.Clone(c.Metadata), Deleted: c.Deleted, Card: s.paysWith(c)})
	}
	return out
}

// Sessions returns all checkout sessions of a customer, oldest first; "" = everybody's.
func (s *Sandbox) Sessions(customer string) []Session {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.catchUp()
	var out []Session
	for _, cs := range s.d.Sessions.of(customer) {
		out = append(out, Session{
			ID: cs.ID, Customer: cs.Customer, Reference: cs.Reference, Status: cs.Status, Payment: cs.Payment, Subscription: cs.Sub, URL: cs.URL,
		})
	}
	return out
}

// Invoices returns all invoices of a customer, oldest first; "" = everybody's.
func (s *Sandbox) Invoices(customer string) []Invoice {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.catchUp()
	var out []Invoice
	for _, i := range s.d.Invoices.of(customer) {
		out = append(out, Invoice{
			ID: i.ID, Customer: i.Customer, Subscription: i.Subscription, Status: i.Status, Total: i.Total, Charge: i.Charge, NextAttempt: instant(i.NextAttempt),
		})
	}
	return out
}

// Events returns all events that were generated, oldest first, with their deliveries.
func (s *Sandbox) Events() []Event {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []Event
	for _, e := range s.d.Events.rows {
		out = append(out, s.eventView(e))
	}
	return out
}

func (s *Sandbox) eventView(e *event) Event {
	id, _ := e.payload(s, pinnedVersion)["data"].(object)["object"].(object)["id"].(string)
	v := Event{ID: e.ID, Type: e.Type, Created: instant(e.Created), Object: id}
	for _, d := range s.d.Deliveries.of(e.ID) {
		v.Deliveries = append(v.Deliveries, Delivery{Endpoint: d.Endpoint, State: d.State, Next: instant(d.Next), Attempts: slices.Clone(d.Attempts)})
	}
	return v
}

// instant converts Unix seconds to a time; 0 becomes the zero time, not 1970.
func instant(at int64) time.Time {
	if at == 0 {
		return time.Time{}
	}
	return time.Unix(at, 0).UTC()
}
