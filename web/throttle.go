package web

import (
	"context"
	"hash/maphash"
	"net/http"
	"net/netip"
	"strconv"
	"time"

	"github.com/ulule/limiter/v3"
	counters "github.com/ulule/limiter/v3/drivers/store/memory"

	"lottery/api/middleware"
)

// throttle limits how often one of K asks for something. It counts on this node only.
type throttle[K comparable] struct {
	limiter *limiter.Limiter
	seed    maphash.Seed
}

// throttleCounters bounds the memory, however many ask.
const throttleCounters = 1 << 14

func newThrottle[K comparable](limit int, period time.Duration) *throttle[K] {
	counts := counters.NewStoreWithOptions(limiter.StoreOptions{Prefix: "asks", CleanUpInterval: 10 * time.Minute})
	return &throttle[K]{limiter.New(counts, limiter.Rate{Period: period, Limit: int64(limit)}), maphash.MakeSeed()}
}

// tooMany counts one request of who, and tells whether there were too many.
func (t *throttle[K]) tooMany(ctx context.Context, who K) bool {
	counter := strconv.FormatUint(maphash.Comparable(t.seed, who)%throttleCounters, 36)
	state, err := t.limiter.Get(ctx, counter)
	return err == nil && state.Reached // the counters in memory do not fail
}

// wider is the IPv6 networks that are counted too, each with so many times the limit of one address. Whoever has one /64
// often has thousands: they would send mails without end, and fill the counters that others share with them. A /48 is a
// site's, a /32 a provider's.
var wider = []struct{ bits, times int }{{48, 10}, {32, 100}}

// networkThrottle limits how many mails one network address asks for, and the networks around it.
type networkThrottle struct {
	address *throttle[netip.Addr]
	around  []*throttle[netip.Addr] // by wider
}

func newNetworkThrottle(limit int, period time.Duration) networkThrottle {
	t := networkThrottle{address: newThrottle[netip.Addr](limit, period)}
	for _, w := range wider {
		t.around = append(t.around, newThrottle[netip.Addr](w.times*limit, period))
	}
	return t
}

// tooMany counts one request from addr. What is refused does not count for the networks around it: one address that asks
// for ever keeps nobody else out.
func (t networkThrottle) tooMany(ctx context.Context, addr netip.Addr) bool {
	if t.address.tooMany(ctx, addr) {
		return true
	}
	if !addr.Is6() {
		return false
	}
	for i, w := range wider {
		if t.around[i].tooMany(ctx, netip.PrefixFrom(addr, w.bits).Masked().Addr()) {
			return true
		}
	}
	return false
}

// tooManyMails limits how many mails one network asks for; what one mailbox gets is counted in the database, over all nodes.
func (h *Handler) tooManyMails(r *http.Request) bool {
	return h.mails.tooMany(r.Context(), middleware.ClientAddr(r, h.deps.Trusted))
}

// stripeAsks is how many pages that ask Stripe one account gets in a minute: Stripe's limit is for all accounts together.
const stripeAsks = 20

// tooManyAsks counts a page that asks Stripe on behalf of an account.
func (h *Handler) tooManyAsks(r *http.Request, accountID string) bool {
	return h.asks.tooMany(r.Context(), accountID)
}

// often answers who wants to go to Stripe too often.
func (h *Handler) often(w http.ResponseWriter, r *http.Request) error {
	return h.tooOften(w, r, time.Minute)
}

// tooOften answers who has asked for too much within a minute or an hour.
func (h *Handler) tooOften(w http.ResponseWriter, r *http.Request, within time.Duration) error {
	in, again := "a minute", "a minute"
	if within >= time.Hour {
		in, again = "an hour", "a while"
	}
	retryAfter(w, within)
	h.failPage(w, r, failure{http.StatusTooManyRequests, "One moment, please", "You have done this many times within " + in + ". Nothing was charged or changed: try again in " + again + "."})
	return nil
}

// retryAfter tells programs what the page tells people.
func retryAfter(w http.ResponseWriter, wait time.Duration) {
	w.Header().Set("Retry-After", strconv.Itoa(int(wait/time.Second)))
}
