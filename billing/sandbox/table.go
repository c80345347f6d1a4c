package sandbox

import (
	"encoding/json"
	"reflect"
)

// object is a JSON object as Stripe sends it.
type object = map[string]any

// head is what every record has.
type head struct {
	ID       string            `json:"id"`
	Created  int64             `json:"created"`
	Metadata map[string]string `json:"metadata,omitempty"`
}

// record is anything with an id.
type record interface {
	base() *head
	// owner returns the id of the customer that the record belongs to; "" = none.
	owner() string
	// render returns the object in the shape of 2023-10-16. The caller owns the result.
	render(s *Sandbox) object
	// due returns when run is to be called, in Unix seconds of the sandbox's time; 0 = never.
	due(s *Sandbox) int64
	run(s *Sandbox)
}

func (h *head) base() *head { return h }

func (*head) owner() string        { return "" }
func (*head) due(_ *Sandbox) int64 { return 0 }
func (*head) run(_ *Sandbox)       {}

// table holds the records of one kind, in order of creation.
type table[T record] struct {
	rows    []T
	byOwner map[string][]T
}

func (t *table[T]) add(r T) {
	t.rows = append(t.rows, r)
	if owner := r.owner(); owner != "" {
		if t.byOwner == nil {
			t.byOwner = map[string][]T{}
		}
		t.byOwner[owner] = append(t.byOwner[owner], r)
	}
}

// of returns the rows of a customer, or all rows if customer is "".
func (t *table[T]) of(customer string) []T {
	if customer == "" {
		return t.rows
	}
	return t.byOwner[customer]
}

// MarshalJSON writes the rows as an array.
func (t *table[T]) MarshalJSON() ([]byte, error) { return json.Marshal(t.rows) }

// UnmarshalJSON reads what MarshalJSON wrote.
func (t *table[T]) UnmarshalJSON(b []byte) error {
	var rows []T
	if err := json.Unmarshal(b, &rows); err != nil {
		return err
	}
	*t = table[T]{}
	for _, r := range rows {
		t.add(r)
	}
	return nil
}

// insert assigns a new record its id and time and stores it.
func insert[T record](s *Sandbox, t *table[T], r T, prefix string, n int) {
	h := r.base()
	if h.ID == "" {
		h.ID = s.newID(prefix, n)
	}
	if h.Created == 0 {
		h.Created = s.now()
	}
	t.add(r)
	s.byID[h.ID] = r
	s.plan(r)
	s.dirty = true
}

// find returns the record with the id, if there is one of that kind.
func find[T record](s *Sandbox, id string) (T, bool) {
	r, ok := s.byID[id].(T)
	return r, ok
}

// need is like find but returns a 404 resource_missing error if there is none; param "" = the id was in the path.
func need[T record](s *Sandbox, noun, id, param string) (T, error) {
	r, ok := find[T](s, id)
	if !ok {
		return r, missing(noun, id, param)
	}
	return r, nil
}

// change applies f to a record and, if anything differs afterwards, emits the event with the previous values.
func (s *Sandbox) change(r record, event string, f func()) {
	before := r.render(s)
	f()
	s.plan(r)
	s.dirty = true
	after := r.render(s)
	previous := object{}
	for k, was := range before {
		if !reflect.DeepEqual(was, after[k]) {
			previous[k] = was
		}
	}
	if len(previous) > 0 {
		s.emit(event, after, previous)
	}
}
