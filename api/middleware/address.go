package middleware

import (
	"net/http"
	"net/netip"
	"strings"
)

// ClientAddr returns where a request comes from: the connection's address, or what trusted proxies say in
// X-Forwarded-For, read from the right up to the first address that is not a proxy's. Clients can forge
// anything left of that. An IPv6 address is reduced to its /64, which belongs to one customer. The zero Addr
// means that the address is unknown.
func ClientAddr(r *http.Request, trusted []netip.Prefix) netip.Addr {
	addr, ok := hop(r.RemoteAddr)
	if !ok {
		return netip.Addr{}
	}
	lines := r.Header["X-Forwarded-For"]
	for i := len(lines) - 1; i >= 0 && contains(trusted, addr); i-- {
		for line, more := lines[i], true; more && contains(trusted, addr); {
			text := line
			if comma := strings.LastIndexByte(line, ','); comma >= 0 {
				line, text = line[:comma], line[comma+1:]
			} else {
				more = false
			}
			next, ok := hop(strings.TrimSpace(text))
			if !ok { // nothing left of it can be trusted
				return network(addr)
			}
			addr = next
		}
	}
	return network(addr)
}

// FromProxy reports whether one of the trusted proxies sent a request.
func FromProxy(r *http.Request, trusted []netip.Prefix) bool {
	addr, ok := hop(r.RemoteAddr)
	return ok && contains(trusted, addr)
}

// hop parses an address, with or without a port.
func hop(text string) (netip.Addr, bool) {
	addr, err := netip.ParseAddr(strings.Trim(text, "[]"))
	if err != nil {
		both, err := netip.ParseAddrPort(text)
		if err != nil {
			return netip.Addr{}, false
		}
		addr = both.Addr()
	}
	return addr.Unmap().WithZone(""), true
}

func contains(list []netip.Prefix, addr netip.Addr) bool {
	for _, p := range list {
		if p.Contains(addr) {
			return true
		}
	}
	return false
}

func network(addr netip.Addr) netip.Addr {
	if addr.Is4() {
		return addr
	}
	return netip.PrefixFrom(addr, 64).Masked().Addr()
}
