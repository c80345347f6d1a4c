package feed

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
)

// Reach connects to the host of a URL, or to the proxy before it, under the same rules as a fetch, and sends no
// request.
func Reach(ctx context.Context, address string, allowPrivate bool) error {
	u, err := url.Parse(address)
	if err != nil || u.Hostname() == "" {
		return errors.New("it is not a URL that can be fetched")
	}
	r := newRoute(nil, allowPrivate, 0)
	proxy, err := r.proxy((&http.Request{URL: u}).WithContext(ctx))
	if err != nil {
		return err
	}
	if proxy == nil {
		proxy = u
	}
	conn, err := r.dial(ctx, "tcp", hostPort(proxy))
	switch {
	case err == nil:
		return conn.Close()
	case proxy != u:
		return fmt.Errorf("the proxy %s (HTTPS_PROXY or HTTP_PROXY): %w", proxy.Host, err)
	default:
		return err
	}
}
