package web

import (
	"context"
	"net/http"
	"net/netip"
	"strconv"
	"time"

	"lottery/api/middleware"
)

// throttleCounters is the number of counters of each throttle.
const throttleCounters = 1 << 14

func newThrottle[K comparable](limit int, period time.Duration) *middleware.Throttle[K] {
	return middleware.NewThrottle[K](throttleCounters, limit, period)
}

// wider lists the IPv6 prefix lengths that are counted as well, each allowed so many times the limit of one address.
// Whoever has one /64 often has thousands, and could otherwise send mails without end and exhaust the counters shared
// with others. A /48 belongs to a site, a /32 to a provider.
var wider = []struct{ bits, times int }{{48, 10}, {32, 100}}

// networkThrottle limits how many mails a network address, and each IPv6 network around it, may request.
type networkThrottle struct {
	address *middleware.Throttle[netip.Addr]
	around  []*middleware.Throttle[netip.Addr] // one for each of wider
}

func newNetworkThrottle(limit int, period time.Duration) networkThrottle {
	t := networkThrottle{address: newThrottle[netip.Addr](limit, period)}
	for _, w := range wider {
		t.around = append(t.around, newThrottle[netip.Addr](w.times*limit, period))
	}
	return t
}

// tooMany counts one request from addr, and reports whether that is too many. A request refused for its address does
// not count for the networks around it: a single address that keeps asking locks nobody else out.
func (t networkThrottle) tooMany(ctx context.Context, addr netip.Addr) bool {
	if t.address.Count(ctx, addr).Reached {
		return true
	}
	if !addr.Is6() {
		return false
	}
	for i, w := range wider {
		if t.around[i].Count(ctx, netip.PrefixFrom(addr, w.bits).Masked().Addr()).Reached {
			return true
		}
	}
	return false
}

// tooManyMails counts a mail requested from the client's network, and reports whether that is too many. The mails to
// one mailbox are counted in the database, across all nodes.
func (h *Handler) tooManyMails(r *http.Request) bool {
	return h.mails.tooMany(r.Context(), middleware.ClientAddr(r, h.deps.Trusted))
}

// stripeAsks limits how many pages that call Stripe one account may request in a minute: Stripe's rate limit is shared
// by all accounts.
const stripeAsks = 20

// tooManyAsks counts a page that calls Stripe on behalf of an account, and reports whether that is too many.
func (h *Handler) tooManyAsks(r *http.Request, accountID string) bool {
	return h.asks.Count(r.Context(), accountID).Reached
}

// tooOften answers 429 to a visitor who has exceeded a limit per minute or per hour.
func (h *Handler) tooOften(w http.ResponseWriter, r *http.Request, within time.Duration) error {
	in, again := "a minute", "a minute"
	if within >= time.Hour {
		in, again = "an hour", "a while"
	}
	retryAfter(w, within)
	h.failPage(w, r, failure{http.StatusTooManyRequests, "One moment, please", "You have done this many times within " + in + ". Nothing was charged or changed: try again in " + again + "."})
	return nil
}

// retryAfter sets the Retry-After header, which tells programs what the page tells people.
func retryAfter(w http.ResponseWriter, wait time.Duration) {
	w.Header().Set("Retry-After", strconv.Itoa(int(wait/time.Second)))
}
