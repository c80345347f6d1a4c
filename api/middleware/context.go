package middleware

import (
	"context"
	"errors"
	"log/slog"
	"net/http"

	"github.com/gin-gonic/gin"
)

type idKey struct{}

// WithRequestID returns a context for the work of one request: lines logged with it carry the request's ID.
func WithRequestID(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, idKey{}, id)
}

// ContextOf returns the context of c's request with its ID. It is made on demand, since most requests log nothing.
func ContextOf(c *gin.Context) context.Context {
	return WithRequestID(c.Request.Context(), RequestIDOf(c))
}

// HungUp reports whether a request failed because its client has gone away, which is nobody's fault.
func HungUp(r *http.Request, failed error) bool {
	return errors.Is(r.Context().Err(), context.Canceled) && errors.Is(failed, context.Canceled)
}

// LogHandler adds the request ID, if the context has one, to every line.
func LogHandler(next slog.Handler) slog.Handler { return logHandler{next} }

type logHandler struct{ slog.Handler }

func (h logHandler) Handle(ctx context.Context, r slog.Record) error {
	if id, ok := ctx.Value(idKey{}).(string); ok {
		r.AddAttrs(slog.String("request_id", id))
	}
	return h.Handler.Handle(ctx, r)
}

func (h logHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return logHandler{h.Handler.WithAttrs(attrs)}
}

func (h logHandler) WithGroup(name string) slog.Handler { return logHandler{h.Handler.WithGroup(name)} }
