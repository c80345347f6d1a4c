package middleware_test

import (
	"net/http"
	"net/netip"
	"testing"

	"lottery/api/middleware"
)

func TestClientAddr(t *testing.T) {
	t.Parallel()
	trusted := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("2001:db8:0:1::/64"), netip.MustParsePrefix("127.0.0.1/32")}
	for _, c := range []struct {
		name, remote string
		forwarded    []string
		trusted      []netip.Prefix
		want         string
	}{
		{"connection", "192.0.2.1:40000", nil, trusted, "192.0.2.1"},
		{"nobody is trusted", "10.0.0.1:40000", []string{"192.0.2.7"}, nil, "10.0.0.1"},
		{"not a proxy", "192.0.2.1:40000", []string{"192.0.2.7"}, trusted, "192.0.2.1"},
		{"one proxy", "10.0.0.1:40000", []string{"192.0.2.7"}, trusted, "192.0.2.7"},
		{"what the client wrote is not believed", "10.0.0.1:40000", []string{"203.0.113.9, 192.0.2.7"}, trusted, "192.0.2.7"},
		{"two proxies", "10.0.0.1:40000", []string{"203.0.113.9, 192.0.2.7, 10.0.0.2"}, trusted, "192.0.2.7"},
		{"several lines", "10.0.0.1:40000", []string{"203.0.113.9", "192.0.2.7", "10.0.0.3,10.0.0.2"}, trusted, "192.0.2.7"},
		{"only proxies", "10.0.0.1:40000", []string{"10.0.0.3, 10.0.0.2"}, trusted, "10.0.0.3"},
		{"no header", "10.0.0.1:40000", nil, trusted, "10.0.0.1"},
		{"empty header", "10.0.0.1:40000", []string{""}, trusted, "10.0.0.1"},
		{"empty element", "10.0.0.1:40000", []string{",192.0.2.7"}, trusted, "192.0.2.7"},
		{"garbage ends the walk", "10.0.0.1:40000", []string{"192.0.2.7, unknown, 10.0.0.2"}, trusted, "10.0.0.2"},
		{"garbage line ends the walk", "10.0.0.1:40000", []string{"192.0.2.7", "x", "10.0.0.2"}, trusted, "10.0.0.2"},
		{"garbage before the client is not looked at", "10.0.0.1:40000", []string{"x, 192.0.2.7"}, trusted, "192.0.2.7"},
		{"ports", "10.0.0.1:40000", []string{"192.0.2.7:5555"}, trusted, "192.0.2.7"},
		{"mapped", "[::ffff:10.0.0.1]:40000", []string{"::ffff:192.0.2.7"}, trusted, "192.0.2.7"},
		{"IPv6 by /64", "[2001:db8:5:6:ffff:8:9:a]:40000", nil, trusted, "2001:db8:5:6::"},
		{"IPv6 through a proxy", "[2001:db8:0:1::2]:40000", []string{"2001:db8:5:6:7:8:9:a"}, trusted, "2001:db8:5:6::"},
		{"IPv6 in brackets", "127.0.0.1:40000", []string{"[2001:db8:5:6::1]:80"}, trusted, "2001:db8:5:6::"},
		{"zone", "[fe80::1%eth0]:40000", nil, trusted, "fe80::"},
		{"Unix socket", "@", []string{"192.0.2.7"}, trusted, "invalid IP"},
	} {
		r := &http.Request{RemoteAddr: c.remote, Header: http.Header{"X-Forwarded-For": c.forwarded}}
		if got := middleware.ClientAddr(r, c.trusted).String(); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

func FuzzClientAddr(f *testing.F) {
	f.Add("10.0.0.1:1", "192.0.2.7, 10.0.0.2")
	f.Add("[::1]:1", "[::ffff:1.2.3.4]:5, x,,%")
	f.Fuzz(func(t *testing.T, remote, forwarded string) {
		r := &http.Request{RemoteAddr: remote, Header: http.Header{"X-Forwarded-For": {forwarded}}}
		all := []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0"), netip.MustParsePrefix("::/0")}
		if a := middleware.ClientAddr(r, all); a.Is4In6() || a.Zone() != "" || (a.Is6() && netip.PrefixFrom(a, 64).Masked().Addr() != a) {
			t.Errorf("%v", a)
		}
		if none, direct := middleware.ClientAddr(r, nil), middleware.ClientAddr(&http.Request{RemoteAddr: remote}, all); none != direct {
			t.Errorf("without trust %v, without the header %v", none, direct)
		}
	})
}
