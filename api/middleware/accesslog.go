package middleware

import (
	"log/slog"
	"net/http"
	"net/netip"
	"time"
)

// AccessLog logs a line per request, without full paths, queries or keys. The zero AccessLog logs nothing.
type AccessLog struct {
	Log     *slog.Logger   // with a LogHandler; nil = no lines
	Trusted []netip.Prefix // proxies whose X-Forwarded-For is trusted
}

// on reports whether lines are logged.
func (l *AccessLog) on() bool { return l.Log != nil }

// Line is what an access log line says about a request.
type Line struct {
	Route  string
	Status int
	Bytes  int // of the body, as written
	Took   time.Duration
	ID     string
	Key    string // prefix of its key; "" = no valid key
}

// write logs line. The request ID is added by LogHandler, as in every line of a request.
func (l *AccessLog) write(r *http.Request, line Line) {
	l.Log.LogAttrs(WithRequestID(r.Context(), line.ID), slog.LevelInfo, "request",
		slog.String("method", method(r.Method)), slog.String("route", line.Route), slog.Int("status", line.Status), slog.Int("bytes", max(0, line.Bytes)),
		slog.Float64("ms", float64(line.Took.Microseconds())/1000), slog.String("key", line.Key),
		slog.String("client", ClientAddr(r, l.Trusted).String()))
}

// method returns m if HTTP defines it, else "other": methods that a client makes up are not logged.
func method(m string) string {
	switch m {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete,
		http.MethodOptions, http.MethodConnect, http.MethodTrace:
		return m
	default:
		return OtherRoute
	}
}
