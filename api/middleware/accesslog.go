package middleware

import (
	"log/slog"
	"net/http"
	"net/netip"
	"time"
)

// AccessLog writes a line for each request: never a whole path, a query or a key. The zero one writes nothing.
type AccessLog struct {
	Log     *slog.Logger   // with a LogHandler; nil = no lines
	Trusted []netip.Prefix // proxies whose X-Forwarded-For is believed
}

// On tells whether lines are written.
func (l *AccessLog) On() bool { return l.Log != nil }

// Line is what an access log says of a request.
type Line struct {
	Route  string
	Status int
	Bytes  int // of the body, as written
	Took   time.Duration
	ID     string
	Key    string // prefix of its key; "" = none that is valid
}

// write leaves request_id to LogHandler, which adds it to every line of a request.
func (l *AccessLog) write(r *http.Request, line Line) {
	l.Log.LogAttrs(WithRequestID(r.Context(), line.ID), slog.LevelInfo, "request",
		slog.String("method", method(r.Method)), slog.String("route", line.Route), slog.Int("status", line.Status), slog.Int("bytes", max(0, line.Bytes)),
		slog.Float64("ms", float64(line.Took.Microseconds())/1000), slog.String("key", line.Key),
		slog.String("client", ClientAddr(r, l.Trusted).String()))
}

// method is a method that HTTP knows: what a client makes up is not written down.
func method(m string) string {
	switch m {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete,
		http.MethodOptions, http.MethodConnect, http.MethodTrace:
		return m
	default:
		return OtherRoute
	}
}
