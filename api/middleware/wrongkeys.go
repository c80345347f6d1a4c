package middleware

import (
	"context"
	"errors"
	"net/http"
	"net/netip"
	"time"

	"lottery/api/problem"
)

// WrongKeys slows down clients that guess keys: after too many wrong keys per minute from one address, the answer is
// 429. Valid keys from the same address are unaffected: only requests with wrong keys are counted and refused.
type WrongKeys struct {
	throttle *Throttle[netip.Addr]
	trusted  []netip.Prefix
}

// wrongKeyCounters is the number of counters for all addresses together, so that coming from many addresses cannot fill
// the memory.
const wrongKeyCounters = 1 << 16

// NewWrongKeys allows perMinute wrong keys per minute and address; 0 = no limit. trusted are the proxies whose
// X-Forwarded-For is believed.
func NewWrongKeys(perMinute int, trusted []netip.Prefix) *WrongKeys {
	if perMinute <= 0 {
		return nil
	}
	return &WrongKeys{NewThrottle[netip.Addr](wrongKeyCounters, perMinute, time.Minute), trusted}
}

// refusal returns the answer to a request refused with err: 429 if err is a wrong key and there
// were too many, else err.
func (w *WrongKeys) refusal(ctx context.Context, r *http.Request, err error) error {
	p, ok := errors.AsType[*problem.Problem](err)
	if w == nil || !ok || p.Code != problem.InvalidAPIKey {
		return err
	}
	state := w.throttle.Count(ctx, ClientAddr(r, w.trusted))
	if !state.Reached {
		return err
	}
	return &problem.Problem{
		Code: problem.RateLimited, Detail: "too many wrong keys came from your IP address; fix the key, and try again in a minute",
		RetryAfter: max(time.Second, time.Until(time.Unix(state.Reset, 0))), Cause: err,
	}
}
