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

// WrongKeys slows down whoever tries keys: after so many wrong ones a minute from one address, the answer is 429.
// A valid key behind the same address never meets it, since only wrong ones are counted, and refused.
type WrongKeys struct {
	limiter *limiter.Limiter
	trusted []netip.Prefix
	seed    maphash.Seed
}

// wrongKeyCounters is how many counters there are for all addresses together, so that nobody can fill the memory
// by coming from many. Two addresses that share one are slowed a little earlier.
const wrongKeyCounters = 1 << 16

// NewWrongKeys allows perMinute wrong keys a minute from an address; 0 = as many as it likes. Trusted proxies may say
// whose it is.
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

// refusal is what a request gets that err refused: 429 instead, if err is a wrong key and there were too many.
func (w *WrongKeys) refusal(ctx context.Context, r *http.Request, err error) error {
	var p *problem.Problem
	if w == nil || !errors.As(err, &p) || p.Code != problem.InvalidAPIKey {
		return err
	}
	addr := ClientAddr(r, w.trusted)
	counter := strconv.FormatUint(maphash.Comparable(w.seed, addr)%wrongKeyCounters, 36)
	state, failed := w.limiter.Get(ctx, counter)
	if failed != nil || !state.Reached { // the counters in memory do not fail
		return err
	}
	return &problem.Problem{
		Code: problem.RateLimited, Detail: "too many wrong keys came from your IP address; fix the key, and try again in a minute",
		RetryAfter: max(time.Second, time.Until(time.Unix(state.Reset, 0))), Cause: err,
	}
}
