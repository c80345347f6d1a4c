package api_test

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

// discard is a response writer that keeps its header map, as net/http's does for a request.
type discard struct{ header http.Header }

func (d *discard) Header() http.Header         { return d.header }
func (d *discard) Write(b []byte) (int, error) { return len(b), nil }
func (d *discard) WriteHeader(int)             {}

// BenchmarkRecent is the whole request path but the network: ten draws, with a key.
func BenchmarkRecent(b *testing.B) {
	s := newServer(b)
	r := httptest.NewRequest(http.MethodGet, "/v1/draws/recent?game=ny-win-4", nil)
	r.RequestURI = "/v1/draws/recent?game=ny-win-4"
	r.Header.Set("X-Api-Key", s.key)
	w := &discard{header: http.Header{}}
	b.ReportAllocs()
	for b.Loop() {
		clear(w.header)
		s.handler.ServeHTTP(w, r)
	}
}
