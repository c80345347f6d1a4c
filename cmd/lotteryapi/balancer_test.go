package main

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// balancer is a proxy in front of several servers, set up as docs/operations.md says: round robin, a /readyz check now
// and then, and the next server if one refuses the connection.
type balancer struct {
	base  string
	nodes []*upstream
	next  atomic.Uint64
	inner http.RoundTripper
}

type upstream struct {
	host  string
	ready atomic.Bool
}

// fromBalancer marks a response that no server gave.
const fromBalancer = "X-From-Balancer"

// healthEvery is how often the balancer checks /readyz; a drain delay must be longer.
const healthEvery = 100 * time.Millisecond

func newBalancer(t testing.TB, bases ...string) *balancer {
	t.Helper()
	transport := &http.Transport{MaxIdleConnsPerHost: 64, DialContext: (&net.Dialer{Timeout: 2 * time.Second}).DialContext, DisableCompression: true}
	b := &balancer{inner: transport}
	for _, base := range bases {
		at, err := url.Parse(base)
		if err != nil {
			t.Fatal(err)
		}
		b.nodes = append(b.nodes, &upstream{host: at.Host})
	}
	proxy := httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.Out.URL.Scheme, r.Out.URL.Host = "http", "any"
			r.SetXForwarded()
		},
		Transport: b,
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			w.Header().Set(fromBalancer, err.Error())
			w.WriteHeader(http.StatusBadGateway)
		},
	}
	ctx, stop := context.WithCancel(context.Background())
	var asking sync.WaitGroup
	for _, n := range b.nodes {
		n.check(ctx)
		asking.Go(func() { n.watch(ctx) })
	}
	server := httptest.NewServer(&proxy)
	b.base = server.URL
	t.Cleanup(func() {
		stop()
		asking.Wait()
		server.CloseClientConnections()
		server.Close()
		transport.CloseIdleConnections()
	})
	return b
}

func (n *upstream) watch(ctx context.Context) {
	tick := time.NewTicker(healthEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			n.check(ctx)
		}
	}
}

func (n *upstream) check(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+n.host+"/readyz", nil)
	if err != nil {
		return
	}
	res, err := http.DefaultClient.Do(r)
	if err == nil {
		res.Body.Close()
	}
	n.ready.Store(err == nil && res.StatusCode == http.StatusOK)
}

// RoundTrip tries the servers in turn, those that are ready first, until one accepts the connection.
func (b *balancer) RoundTrip(r *http.Request) (*http.Response, error) {
	first := b.next.Add(1)
	var err error
	for _, ready := range []bool{true, false} {
		for i := range b.nodes {
			n := b.nodes[(first+uint64(i))%uint64(len(b.nodes))]
			if n.ready.Load() != ready {
				continue
			}
			r.URL.Host = n.host
			r.Body = io.NopCloser(strings.NewReader("")) // else the transport sends it again when a server dies, and it is counted twice
			var res *http.Response
			if res, err = b.inner.RoundTrip(r); err == nil {
				return res, nil
			}
			if op, ok := errors.AsType[*net.OpError](err); !ok || op.Op != "dial" {
				return nil, err // it may have been counted already
			}
			n.ready.Store(false)
		}
	}
	return nil, err
}
