package feed

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"syscall"
	"time"

	"golang.org/x/net/http/httpproxy"
)

// route decides how to reach a URL: directly, or through the proxy that HTTPS_PROXY, HTTP_PROXY and NO_PROXY name,
// which hold for everything else that the programs fetch.
type route struct {
	proxyOf      func(*url.URL) (*url.URL, error)
	proxies      map[string]bool // host:port; configured by the operator, so they may be in a private network
	allowPrivate bool
	timeout      time.Duration // of a connection; 0 = none
}

// newRoute reads the proxies of env; nil = the environment's.
func newRoute(env *httpproxy.Config, allowPrivate bool, timeout time.Duration) *route {
	if env == nil {
		env = httpproxy.FromEnvironment()
	}
	r := &route{proxyOf: env.ProxyFunc(), proxies: map[string]bool{}, allowPrivate: allowPrivate, timeout: timeout}
	always := httpproxy.Config{HTTPProxy: env.HTTPProxy, HTTPSProxy: env.HTTPSProxy}
	for _, scheme := range []string{"http", "https"} {
		if proxy, err := always.ProxyFunc()(&url.URL{Scheme: scheme, Host: "example.com"}); err == nil && proxy != nil {
			r.proxies[hostPort(proxy)] = true
		}
	}
	return r
}

// lookUp bounds the DNS lookup of a name: behind a proxy there may be no server that can answer.
const lookUp = 2 * time.Second

// proxy returns the proxy for a request; nil = none. Behind a proxy, dial sees only the proxy, so proxy checks that the
// requested host is public, even if it is the proxy itself. A name that cannot be resolved here is left to the proxy.
func (r *route) proxy(q *http.Request) (*url.URL, error) {
	proxy, err := r.proxyOf(q.URL)
	if err != nil || r.allowPrivate || (proxy == nil && !r.proxies[hostPort(q.URL)]) {
		return proxy, err
	}
	ctx, cancel := context.WithTimeout(q.Context(), lookUp)
	defer cancel()
	var found []netip.Addr
	if ip, err := netip.ParseAddr(q.URL.Hostname()); err == nil {
		found = append(found, ip)
	} else if found, err = net.DefaultResolver.LookupNetIP(ctx, "ip", q.URL.Hostname()); err != nil {
		return proxy, nil // the proxy may know it
	}
	for _, ip := range found {
		if err := public(ip); err != nil {
			return nil, err
		}
	}
	return proxy, nil
}

// dial connects to a server, or to a proxy.
func (r *route) dial(ctx context.Context, network, address string) (net.Conn, error) {
	dialer := &net.Dialer{Timeout: r.timeout}
	if !r.allowPrivate && !r.proxies[address] {
		dialer.Control = publicOnly
	}
	return dialer.DialContext(ctx, network, address)
}

// hostPort returns the host:port of a URL's server.
func hostPort(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443", "socks5": "1080", "socks5h": "1080"}[u.Scheme]
	}
	return net.JoinHostPort(u.Hostname(), port)
}

// publicOnly refuses connections to anything not on the public internet. It sees the resolved address, so neither a
// name nor a redirect can get around it.
func publicOnly(_, address string, _ syscall.RawConn) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return err
	}
	return public(at.Addr())
}

func public(ip netip.Addr) error {
	if translated.Contains(ip) {
		bytes := ip.As16()
		ip = netip.AddrFrom4([4]byte(bytes[12:]))
	}
	if ip = ip.Unmap(); !ip.IsGlobalUnicast() || ip.IsPrivate() || sharedSpace.Contains(ip) {
		return lasting{fmt.Errorf("it leads to %s, which is not on the public internet; feeds_allow_private allows that", ip)}
	}
	return nil
}

// translated are the addresses that a gateway translates to IPv4 (NAT64, RFC 6052): the last four bytes say which.
var translated = netip.MustParsePrefix("64:ff9b::/96")

// sharedSpace is the shared address space of carriers (RFC 6598).
var sharedSpace = netip.MustParsePrefix("100.64.0.0/10")
