package sandbox

import (
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"time"
)

// localOnly refuses requests from other machines: the controls need no key.
func localOnly(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if host, _, err := net.SplitHostPort(r.RemoteAddr); r.RemoteAddr != "" && (err != nil || !net.ParseIP(host).IsLoopback()) {
			http.Error(w, "The sandbox's controls answer this machine only.", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// order is the body of a control; each control reads the fields that its method takes. Durations are written like
// "72h".
type order struct {
	By           time.Duration     `json:"by"`
	Overlap      time.Duration     `json:"overlap"`
	Order        string            `json:"order"`
	ID           string            `json:"id"`
	Session      string            `json:"session"`
	Customer     string            `json:"customer"`
	Subscription string            `json:"subscription"`
	Price        string            `json:"price"`
	Status       string            `json:"status"`
	Metadata     map[string]string `json:"metadata"`
	Card         Card              `json:"card"`
	Email        string            `json:"email"`
	End          bool              `json:"end"`
	Paid         bool              `json:"paid"`
	Cents        int64             `json:"cents"`
	Inquiry      bool              `json:"inquiry"`
	Dispute      string            `json:"dispute"`
	Version      string            `json:"version"`
	Endpoint     string            `json:"endpoint"`
	Event        string            `json:"event"`
	Type         string            `json:"type"`
	Object       string            `json:"object"`
}

// controls serves the methods of Sandbox, and the time machine, over HTTP. The fields of a fault or an order have their
// JSON names. An order that cannot be carried out gets a 422 with {"error"}.
func (s *Sandbox) controls() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /_sandbox", s.machinePage)
	mux.HandleFunc("POST /_sandbox/machine", s.machineMove)
	mux.HandleFunc("GET /_sandbox/state", func(w http.ResponseWriter, _ *http.Request) {
		tell(w, map[string]any{
			"now": s.Now(), "customers": s.Customers(), "subscriptions": s.Subscriptions(""), "checkout_sessions": s.Sessions(""), "invoices": s.Invoices(""),
		}, nil)
	})
	mux.HandleFunc("GET /_sandbox/subscriptions", func(w http.ResponseWriter, r *http.Request) {
		tell(w, s.Subscriptions(r.URL.Query().Get("customer")), nil)
	})
	mux.HandleFunc("GET /_sandbox/events", func(w http.ResponseWriter, _ *http.Request) { tell(w, s.Events(), nil) })
	mux.HandleFunc("GET /_sandbox/calls", func(w http.ResponseWriter, _ *http.Request) { tell(w, s.Calls(), nil) })
	post(mux, "/_sandbox/faults/api", func(_ *http.Request, f *APIFault) (any, error) { s.FaultAPI(*f); return done, nil })
	post(mux, "/_sandbox/faults/delivery", func(_ *http.Request, f *DeliveryFault) (any, error) { s.FaultDelivery(*f); return done, nil })
	post(mux, "/_sandbox/faults/event", func(_ *http.Request, f *EventFault) (any, error) { s.FaultEvent(*f); return done, nil })
	mux.HandleFunc("DELETE /_sandbox/faults", func(w http.ResponseWriter, _ *http.Request) { s.ClearFaults(); tell(w, done, nil) })
	post(mux, "/_sandbox/dunning", func(_ *http.Request, d *Dunning) (any, error) { return done, s.SetDunning(*d) })
	for name, f := range s.orders() {
		post(mux, "/_sandbox/"+name, f)
	}
	return mux
}

// orders returns the controls that change something.
func (s *Sandbox) orders() map[string]func(*http.Request, *order) (any, error) {
	plain := func(f func(o *order) error) func(*http.Request, *order) (any, error) {
		return func(_ *http.Request, o *order) (any, error) { return done, f(o) }
	}
	id := func(f func(o *order) (string, error)) func(*http.Request, *order) (any, error) {
		return func(_ *http.Request, o *order) (any, error) {
			id, err := f(o)
			return map[string]any{"id": id}, err
		}
	}
	return map[string]func(*http.Request, *order) (any, error){
		"advance": func(_ *http.Request, o *order) (any, error) {
			s.Advance(o.By)
			return map[string]any{"now": s.Now()}, nil
		},
		"quiesce": func(r *http.Request, _ *order) (any, error) { return done, s.Quiesce(r.Context()) },
		"release": func(r *http.Request, o *order) (any, error) {
			n, err := s.Release(r.Context(), o.Order)
			return map[string]any{"released": n}, err
		},
		"pay": func(_ *http.Request, o *order) (any, error) {
			next, ok, err := s.Pay(o.Session, o.Card)
			return map[string]any{"next": next, "paid": ok}, err
		},
		"card":                 plain(func(o *order) error { return s.SetCard(o.Customer, o.Card) }),
		"subscription":         id(func(o *order) (string, error) { return s.NewSubscription(o.Customer, o.Price, o.Status, o.Metadata) }),
		"status":               plain(func(o *order) error { return s.SetStatus(o.Subscription, o.Status) }),
		"cancel":               plain(func(o *order) error { return s.Cancel(o.Subscription) }),
		"cancel_at_period_end": plain(func(o *order) error { return s.CancelAtPeriodEnd(o.Subscription, o.End) }),
		"renew":                plain(func(o *order) error { return s.Renew(o.Subscription) }),
		"retry_payment":        plain(func(o *order) error { return s.RetryPayment(o.Subscription) }),
		"price":                plain(func(o *order) error { return s.SetPrice(o.Subscription, o.Price) }),
		"settle":               plain(func(o *order) error { return s.Settle(o.ID, o.Paid) }),
		"refund":               id(func(o *order) (string, error) { return s.Refund(o.ID, o.Cents) }),
		"dispute":              id(func(o *order) (string, error) { return s.Dispute(o.ID, o.Inquiry) }),
		"close_dispute":        plain(func(o *order) error { return s.CloseDispute(o.Dispute, o.Status) }),
		"delete_customer":      plain(func(o *order) error { return s.DeleteCustomer(o.Customer) }),
		"email":                plain(func(o *order) error { return s.SetEmail(o.Customer, o.Email) }),
		"event_version":        plain(func(o *order) error { s.SetEventVersion(o.Version); return nil }),
		"resend":               plain(func(o *order) error { return s.Resend(o.Event, o.Endpoint) }),
		"emit":                 id(func(o *order) (string, error) { return s.Emit(o.Type, o.Object) }),
		"roll_secret": func(_ *http.Request, o *order) (any, error) {
			secret, err := s.RollSecret(o.Endpoint, o.Overlap)
			return map[string]any{"secret": secret}, err
		},
	}
}

var done = map[string]any{"ok": true}

// post adds a control whose body is JSON.
func post[T any](mux *http.ServeMux, path string, f func(*http.Request, *T) (any, error)) {
	mux.HandleFunc("POST "+path, func(w http.ResponseWriter, r *http.Request) {
		in := new(T)
		if err := readOrder(http.MaxBytesReader(w, r.Body, 1<<16), in); err != nil {
			tell(w, nil, err)
			return
		}
		out, err := f(r, in)
		tell(w, out, err)
	})
}

// tell writes a control's response.
func tell(w http.ResponseWriter, v any, err error) {
	w.Header().Set("Content-Type", "application/json")
	if err != nil {
		w.WriteHeader(http.StatusUnprocessableEntity)
		v = map[string]any{"error": err.Error()}
	}
	_, _ = w.Write(encode(v)) // the client may be gone
}

// timesIn holds the names of the fields that are durations, written like "72h".
var timesIn = map[string]bool{"by": true, "overlap": true, "delay": true, "retries": true}

// readOrder reads a JSON object whose durations are strings. An empty body is an empty object.
func readOrder(r io.Reader, to any) error {
	raw := map[string]any{}
	if err := json.NewDecoder(r).Decode(&raw); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	for k, v := range raw {
		if !timesIn[k] {
			continue
		}
		var err error
		if list, ok := v.([]any); ok {
			for i := range list {
				if list[i], err = inTime(list[i]); err != nil {
					return err
				}
			}
		} else if raw[k], err = inTime(v); err != nil {
			return err
		}
	}
	b, err := json.Marshal(raw)
	if err != nil {
		return err
	}
	return json.Unmarshal(b, to)
}

func inTime(v any) (any, error) {
	text, ok := v.(string)
	if !ok {
		return nil, errors.New(`a duration is a text like "72h"`)
	}
	d, err := time.ParseDuration(text)
	return int64(d), err
}
