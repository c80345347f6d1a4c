package sandbox

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"
)

// Action is what a fault does.
type Action string

// The faults of the API.
const (
	RateLimit   Action = "rate_limit"         // 429, nothing done
	ServerError Action = "server_error"       // 500, nothing done
	ErrorAfter  Action = "error_after_commit" // done, but answered with 500, also to the same idempotency key again
	ErrorStays  Action = "error_stays"        // 500, nothing done, also to the same idempotency key again
	Hang        Action = "hang"               // no answer, nothing done, until the client leaves or Delay is over
	LoseReply   Action = "lose_reply"         // done, but the connection ends after the head of the answer
	DelayReply  Action = "delay"              // done after Delay
	NotFound    Action = "not_found"          // 404, as if the object did not exist
	NewShape    Action = "new_shape"          // answered in NewVersion's shape, whatever the request asks for
	Withhold    Action = "withhold"           // a checkout session is answered as if its subscription did not exist yet
)

// The faults of webhooks.
const (
	Drop          Action = "drop"      // never sent, never tried again
	Duplicate     Action = "duplicate" // sent Copies times, one after the other or AtOnce
	Hold          Action = "hold"      // kept until Release, which chooses the order
	DelayDelivery Action = "delay"     // sent Delay later, by the sandbox's clock
)

// APIFault makes requests to the API go wrong.
type APIFault struct {
	Action Action        `json:"action"`
	Times  int           `json:"times"`  // how often it strikes; 0 = until it is cleared
	Method string        `json:"method"` // "" = any
	Path   string        `json:"path"`   // "" = any; a * at its end stands for anything
	Delay  time.Duration `json:"delay"`
}

// DeliveryFault makes webhooks go wrong.
type DeliveryFault struct {
	Action Action        `json:"action"`
	Times  int           `json:"times"` // how often it strikes; 0 = until it is cleared
	Type   string        `json:"type"`  // of the event; "" = any; a * at its end stands for anything
	Delay  time.Duration `json:"delay"`
	Copies int           `json:"copies"`
	AtOnce bool          `json:"at_once"`
}

// faults holds the faults that may still strike.
type faults struct {
	api      []*APIFault
	delivery []*DeliveryFault
	skipped  []string // types of events that are not made
}

// FaultAPI adds a fault of the API. If several match a request, the first one strikes.
func (s *Sandbox) FaultAPI(f APIFault) { s.do(func() { s.faults.api = append(s.faults.api, &f) }) }

// FaultDelivery adds a fault of webhooks. It is decided when the event happens, in the order of events.
func (s *Sandbox) FaultDelivery(f DeliveryFault) {
	s.do(func() { s.faults.delivery = append(s.faults.delivery, &f) })
}

// SkipEvents suppresses the events of a type: the API does not list them either. "" = any; a * at its end stands for
// anything.
func (s *Sandbox) SkipEvents(kind string) {
	s.do(func() { s.faults.skipped = append(s.faults.skipped, kind) })
}

// ClearFaults ends all faults. What is held stays held until Release.
func (s *Sandbox) ClearFaults() { s.do(func() { s.faults = faults{} }) }

// strikes reports whether a fault that has so many times left strikes, and counts it if so.
func strikes(times *int) bool {
	switch {
	case *times < 0:
		return false
	case *times == 1:
		*times = -1 // used up
	case *times > 1:
		*times--
	}
	return true
}

// fits reports whether word matches pattern: "" matches everything, and a * at the end stands for anything.
func fits(pattern, word string) bool {
	if begin, wild := strings.CutSuffix(pattern, "*"); wild {
		return strings.HasPrefix(word, begin)
	}
	return pattern == "" || pattern == word
}

func (f *faults) takeAPI(method, path string) APIFault {
	for _, a := range f.api {
		if fits(a.Method, method) && fits(a.Path, path) && strikes(&a.Times) {
			return *a
		}
	}
	return APIFault{}
}

func (f *faults) takeDelivery(kind string) DeliveryFault {
	for _, d := range f.delivery {
		if fits(d.Type, kind) && strikes(&d.Times) {
			return *d
		}
	}
	return DeliveryFault{}
}

func (f *faults) skips(kind string) bool {
	return slices.ContainsFunc(f.skipped, func(pattern string) bool { return fits(pattern, kind) })
}

// before does what the fault does before the request is processed; false = the request never is.
func (f APIFault) before(sandbox, client context.Context) bool {
	switch f.Action {
	case DelayReply:
		return wait(f.Delay, client, sandbox)
	case Hang:
		d := f.Delay
		if d == 0 {
			d = day
		}
		wait(d, client, sandbox)
		return false
	default:
		return true
	}
}

// instead returns the response that the fault gives in place of the request's own, if any.
func (f APIFault) instead() (reply, bool) {
	switch f.Action {
	case RateLimit:
		// Without Stripe-Should-Retry: the SDK does not repeat what exceeded the rate limit.
		// https://github.com/stripe/stripe-dotnet/issues/1886
		return failure(&apiError{
			status: http.StatusTooManyRequests, Type: invalidRequest, Code: "rate_limit",
			Message: "Request rate limit exceeded. Learn more about rate limits here https://stripe.com/docs/rate-limits.",
		}, ""), true
	case ServerError:
		return failure(&apiError{
			status: http.StatusInternalServerError, Type: internalError,
			Message: "An unknown error occurred. (The sandbox was told to say so.)",
		}, ""), true
	case NotFound:
		return failure(missing("object", "as the sandbox was told to say", ""), ""), true
	default:
		return reply{}, false
	}
}

// alter changes a response before it is sent.
func (f APIFault) alter(o object) {
	if f.Action == Withhold && o["object"] == "checkout.session" {
		o["subscription"], o["invoice"] = nil, nil
	}
}
