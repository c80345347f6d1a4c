package middleware

import (
	"context"
	"errors"
	"hash/maphash"
	"net/http"
	"net/netip"
	"strconv"
	"time"

	"github.com/ulule/limiter/v3"
	"github.com/ulule/limiter/v3/drivers/store/memory"

	"lottery/api/problem"
)

// WrongKeys slows down clients that guess keys: after too many wrong keys per minute from one address, the answer is
// 429. Valid keys from the same address are unaffected: only requests with wrong keys are counted and refused.
type WrongKeys struct {
	limiter *limiter.Limiter
	trusted []netip.Prefix
	seed    maphash.Seed
}

// wrongKeyCounters is the number of counters for all addresses together, so that coming from many addresses cannot fill
// the memory. Addresses that share a counter are slowed down a little earlier.
const wrongKeyCounters = 1 << 16

// NewWrongKeys allows perMinute wrong keys per minute and address; 0 = no limit. trusted are the proxies whose
// X-Forwarded-For is believed.
func NewWrongKeys(perMinute int, trusted []netip.Prefix) *WrongKeys {
	if perMinute <= 0 {
		return nil
	}
	counters := memory.NewStoreWithOptions(limiter.StoreOptions{Prefix: "wrong", CleanUpInterval: time.Minute})
	return &WrongKeys{
		limiter: limiter.New(counters, limiter.Rate{Period: time.Minute, Limit: int64(perMinute)}),
		trusted: trusted, seed: maphash.MakeSeed(),
	}
}

// refusal returns the answer to a request refused with err: 429 if err is a wrong key and there
// were too many, else err.
func (w *WrongKeys) refusal(ctx context.Context, r *http.Request, err error) error {
	p, ok := errors.AsType[*problem.Problem](err)
	if w == nil || !ok || p.Code != problem.InvalidAPIKey {
		return err
	}
	addr := ClientAddr(r, w.trusted)
	counter := strconv.FormatUint(maphash.Comparable(w.seed, addr)%wrongKeyCounters, 36)
	state, failed := Count(ctx, w.limiter, counter)
	if failed != nil || !state.Reached { // counters in memory do not fail
		return err
	}
	return &problem.Problem{
		Code: problem.RateLimited, Detail: "too many wrong keys came from your IP address; fix the key, and try again in a minute",
		RetryAfter: max(time.Second, time.Until(time.Unix(state.Reset, 0))), Cause: err,
	}
}
