package sandbox

import (
	"cmp"
	"slices"
	"time"
)

// delivery is one event on its way to one endpoint.
type delivery struct {
	head

	Event    string    `json:"event"`
	Endpoint string    `json:"endpoint"`
	State    string    `json:"state"`
	Next     int64     `json:"next"` // when it is tried again, Unix seconds
	Attempts []Attempt `json:"attempts"`
	Copies   int       `json:"copies"` // sent in each attempt
	AtOnce   bool      `json:"at_once"`
	queued   bool
}

// Attempt is one attempt to deliver an event.
type Attempt struct {
	At     int64  `json:"at"`     // sandbox time, Unix seconds
	Status int    `json:"status"` // the receiver's answer, 0 = none
	Error  string `json:"error,omitempty"`
}

// The states of a delivery.
const (
	deliveryPending = "pending"
	deliveryDone    = "delivered"
	deliveryFailed  = "failed"  // given up after three days
	deliveryLost    = "dropped" // by a fault
	deliveryHeld    = "held"    // by a fault, until Release
)

// retryAfter is the wait after each failed attempt; the last repeats until retryFor is over.
var retryAfter = []time.Duration{5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour, 10 * time.Hour, 12 * time.Hour}

const retryFor = 3 * day

func (d *delivery) owner() string            { return d.Event } // indexes deliveries by event
func (d *delivery) render(_ *Sandbox) object { return object{"id": d.ID, "object": "delivery"} }

func (d *delivery) due(_ *Sandbox) int64 {
	if d.State != deliveryPending || d.queued {
		return 0
	}
	return d.Next
}

func (d *delivery) run(s *Sandbox) { s.enqueue(d) }

// deliver creates the delivery of an event to an endpoint, subject to faults.
func (s *Sandbox) deliver(e *event, to *endpoint) {
	fault := s.faults.takeDelivery(e.Type)
	d := &delivery{Event: e.ID, Endpoint: to.ID, State: deliveryPending, Copies: 1, Next: s.now()}
	switch fault.Action {
	case Drop:
		d.State = deliveryLost
	case Hold:
		d.State = deliveryHeld
	case DelayDelivery:
		d.Next += int64(fault.Delay.Seconds())
	case Duplicate:
		d.Copies, d.AtOnce = max(2, fault.Copies), fault.AtOnce
	}
	insert(s, &s.d.Deliveries, d, "dlv_", longID)
	if d.Next <= s.now() && d.State == deliveryPending {
		s.enqueue(d)
	}
}

func (s *Sandbox) enqueue(d *delivery) {
	if !d.queued {
		d.queued = true
		s.queue = append(s.queue, d)
	}
}

// attempted records the result of an attempt and schedules the next.
func (s *Sandbox) attempted(d *delivery, a Attempt) {
	a.At = s.now()
	d.queued, s.dirty = false, true
	d.Attempts = append(d.Attempts, a)
	if a.Error == "" && a.Status >= 200 && a.Status < 300 {
		d.State, d.Next = deliveryDone, 0
		return
	}
	if d.State != deliveryPending {
		return // it was resent by hand after its end
	}
	wait := retryAfter[min(len(d.Attempts), len(retryAfter))-1]
	d.Next = a.At + int64(wait.Seconds())
	if d.Next > d.Created+int64(retryFor.Seconds()) {
		d.State, d.Next = deliveryFailed, 0
		return
	}
	s.plan(d)
}

// message returns what is sent: the body, signed for the endpoint.
func (s *Sandbox) message(d *delivery) (url, signature string, body []byte, ok bool) {
	e, _ := find[*event](s, d.Event)
	to, _ := find[*endpoint](s, d.Endpoint)
	if to.Deleted || to.Disabled {
		return "", "", nil, false
	}
	body = encode(e.payload(s, cmp.Or(e.Version, to.Version, pinnedVersion)))
	return to.URL, Sign(body, s.signTime(), to.secrets(s.now())...), body, true
}

func (s *Sandbox) signTime() time.Time {
	if s.opts.SignNow != nil {
		return s.opts.SignNow()
	}
	return s.beneath()
}

// release takes the held deliveries, in the order of their events, reversed or shuffled.
func (s *Sandbox) release(order string) []*delivery {
	var held []*delivery
	for _, d := range s.d.Deliveries.rows {
		if d.State == deliveryHeld {
			held = append(held, d)
		}
	}
	switch order {
	case OrderReversed:
		slices.Reverse(held)
	case OrderRandom:
		s.dice.Shuffle(len(held), func(i, j int) { held[i], held[j] = held[j], held[i] })
	}
	for _, d := range held {
		d.State, d.queued = deliveryPending, true
	}
	return held
}
