package sandbox

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
)

// event is something that happened, with the object as it was then.
type event struct {
	head

	Type     string          `json:"type"`
	Object   json.RawMessage `json:"object"`
	Previous json.RawMessage `json:"previous,omitempty"`
	Live     bool            `json:"live"`
	Request  string          `json:"request"`
	Key      string          `json:"key"`
	Version  string          `json:"version"` // of its payloads; "" = each endpoint's own
}

// keepEvents is how long the API lists an event, in seconds: 30 days.
const keepEvents = 30 * 24 * 60 * 60

// emit makes an event and delivers it to the endpoints that want it. previous is the object before an update. It
// returns the event's id, or "" if a fault suppressed it.
func (s *Sandbox) emit(kind string, o, previous object) string {
	fault := s.faults.takeEvent(kind, s.dice)
	if fault.Skip {
		return ""
	}
	e := &event{Type: kind, Live: s.live != fault.WrongMode, Request: s.cause.request, Key: s.cause.key, Version: cmp.Or(fault.Version, s.d.Version)}
	e.Object = encode(o)
	if previous != nil {
		e.Previous = encode(previous)
	}
	insert(s, &s.d.Events, e, "evt_1", longID-1)
	for _, to := range s.d.Endpoints.rows {
		if to.wants(kind) {
			s.deliver(e, to)
		}
	}
	return e.ID
}

// payload returns the event in the shape of an API version.
func (e *event) payload(s *Sandbox, version string) object {
	var o, previous object
	_ = json.Unmarshal(e.Object, &o) // emit wrote it
	data := object{"object": reshape(o, version)}
	if e.Previous != nil {
		_ = json.Unmarshal(e.Previous, &previous)
		previous["object"] = o["object"] // so that reshape knows its kind
		modernizePrevious(previous, version)
		delete(previous, "object")
		data["previous_attributes"] = previous
	}
	pending := 0
	for _, d := range s.d.Deliveries.of(e.ID) {
		if d.State == deliveryPending || d.State == deliveryHeld {
			pending++
		}
	}
	return object{
		"id": e.ID, "object": "event", "api_version": version, "created": e.Created, "data": data, "livemode": e.Live,
		"pending_webhooks": pending, "request": object{"id": orNull(e.Request), "idempotency_key": orNull(e.Key)}, "type": e.Type,
	}
}

func (e *event) render(s *Sandbox) object { return e.payload(s, cmp.Or(e.Version, pinnedVersion)) }

// modernizePrevious drops what newer versions do not have from previous_attributes.
func modernizePrevious(previous object, version string) {
	if version >= NewVersion[:len(pinnedVersion)] && previous["object"] == "subscription" {
		delete(previous, "current_period_start")
		delete(previous, "current_period_end")
	}
}

func listEvents(s *Sandbox, r *request) (object, error) {
	kind := r.p.str("type")
	kinds, byKinds := r.p.strs("types")
	if kind != "" && byKinds {
		r.p.fail(invalid("types", "", "You may only specify one of these parameters: type, types."))
	}
	if kind != "" {
		kinds, byKinds = []string{kind}, true
	}
	success, bySuccess := r.p.bool("delivery_success")
	created := r.p.span("created")
	oldest := s.now() - keepEvents
	return list(s, r, "event", s.d.Events.rows, func(e *event) bool {
		return e.Created > oldest && created(e.Created) && (!byKinds || slices.ContainsFunc(kinds, e.is)) && (!bySuccess || s.delivered(e) == success)
	})
}

// is reports whether the event is of a type or, with a * at the end, of a group such as customer.*.
func (e *event) is(kind string) bool {
	group, wild := strings.CutSuffix(kind, "*")
	return e.Type == kind || wild && strings.HasPrefix(e.Type, group)
}

// delivered reports whether every endpoint has accepted the event.
func (s *Sandbox) delivered(e *event) bool {
	for _, d := range s.d.Deliveries.of(e.ID) {
		if d.State != deliveryDone {
			return false
		}
	}
	return true
}
