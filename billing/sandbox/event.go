package sandbox

import (
	"cmp"
	"encoding/json"
)

// event is something that happened, with the object as it was then.
type event struct {
	head

	Type     string          `json:"type"`
	Object   json.RawMessage `json:"object"`
	Previous json.RawMessage `json:"previous,omitempty"`
	Version  string          `json:"version"` // of its payloads; "" = each endpoint's own
}

// emit makes an event, unless a fault suppresses it, and delivers it to the endpoints that want it. previous holds what
// an update changed.
func (s *Sandbox) emit(kind string, o, previous object) {
	if s.faults.skips(kind) {
		return
	}
	e := &event{Type: kind, Version: s.d.Version}
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
}

// payload returns the event in the shape of an API version.
func (e *event) payload(s *Sandbox, version string) object {
	var o, previous object
	_ = json.Unmarshal(e.Object, &o) // emit wrote both
	data := object{"object": reshape(o, version)}
	if e.Previous != nil {
		_ = json.Unmarshal(e.Previous, &previous)
		if modern(version) && o["object"] == "subscription" {
			delete(previous, "current_period_start")
			delete(previous, "current_period_end")
		}
		data["previous_attributes"] = previous
	}
	return object{
		"id": e.ID, "object": "event", "api_version": version, "created": e.Created, "data": data, "livemode": s.live,
		"pending_webhooks": 1, "request": object{"id": nil, "idempotency_key": nil}, "type": e.Type,
	}
}

func (e *event) render(s *Sandbox) object { return e.payload(s, cmp.Or(e.Version, pinnedVersion)) }

func listEvents(s *Sandbox, r *request) (object, error) {
	kind := r.p.str("type")
	return list(s, r, "event", s.d.Events.rows, func(e *event) bool { return kind == "" || e.Type == kind })
}
