package web

import (
	"hash/maphash"
	"net/http"
	"net/netip"
	"strconv"
	"time"

	"github.com/ulule/limiter/v3"
	counters "github.com/ulule/limiter/v3/drivers/store/memory"

	"lottery/api/middleware"
)

// throttle limits how many mails one network address asks for. It counts on this node only; what one mailbox gets is
// counted in the database, over all nodes.
type throttle struct {
	limiter *limiter.Limiter
	trusted []netip.Prefix
	seed    maphash.Seed
}

// throttleCounters bounds the memory, whoever comes from how many addresses.
const throttleCounters = 1 << 14

func newThrottle(perHour int, trusted []netip.Prefix) *throttle {
	counts := counters.NewStoreWithOptions(limiter.StoreOptions{Prefix: "mails", CleanUpInterval: 10 * time.Minute})
	return &throttle{limiter.New(counts, limiter.Rate{Period: time.Hour, Limit: int64(perHour)}), trusted, maphash.MakeSeed()}
}

// tooMany counts one request, and tells whether there were too many.
func (t *throttle) tooMany(r *http.Request) bool {
	addr := middleware.ClientAddr(r, t.trusted)
	counter := strconv.FormatUint(maphash.Comparable(t.seed, addr)%throttleCounters, 36)
	state, err := t.limiter.Get(r.Context(), counter)
	return err == nil && state.Reached // the counters in memory do not fail
}
