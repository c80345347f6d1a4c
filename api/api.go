// Package api is the public HTTP API: routes, handlers, encoders. It answers from the catalog in memory;
// no request to a draw path touches the database, but for a key that this node has not seen yet.
package api

import (
	"errors"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gin-gonic/gin"

	"lottery/api/middleware"
	"lottery/api/problem"
	"lottery/api/quota"
	"lottery/models"
	"lottery/models/catalog"
	"lottery/models/secret"
	"lottery/models/store"
)

// Deps is what the API stands on.
type Deps struct {
	Catalog   *catalog.Live
	Keys      *middleware.Keys
	Store     *store.Store          // for /v1/usage
	WrongKeys *middleware.WrongKeys // slows down who tries keys; nil = nobody
	Quota     *quota.Store          // counts requests; nil = nobody counts
	Usage     *quota.Usage          // statistics of counted requests; nil = nobody keeps them
	Warnings  *quota.Warnings       // told when a day's quota runs out; nil = nobody is
	Traffic   *middleware.Traffic   // counts all requests; nil = nobody does
	Ready     func() error          // why this node should get no traffic now; nil = it should
	PublicURL string                // scheme and host of the service, without a final slash
	Build     models.Build
	Log       *slog.Logger
}

// Handler answers every route of the API.
type Handler struct {
	deps   Deps
	build  string
	memory atomic.Pointer[memory]
	kept   kept
}

// memory is answers that are made once per data version. It does not hold the catalog: an old one must go.
type memory struct {
	version string
	texts   sync.Map // name → []byte
}

// New is the API as one http.Handler.
func New(deps Deps) http.Handler {
	h := &Handler{deps: deps, build: deps.Build.String()}
	return h.routes()
}

// fail writes an error: a Problem as it is, everything else as 500. It is the only place that does.
func (h *Handler) fail(c *gin.Context, err error) {
	var p *problem.Problem
	if !errors.As(err, &p) {
		p = &problem.Problem{
			Code: problem.Internal, Detail: "an unexpected error was logged; try again, and if it keeps happening, give support the request ID", Cause: err,
		}
	}
	if p.Status() >= http.StatusInternalServerError && !p.Logged {
		level, what := slog.LevelError, "request failed"
		if middleware.HungUp(c.Request, p) {
			level, what = slog.LevelInfo, "a request was not waited for"
		}
		h.deps.Log.Log(middleware.ContextOf(c), level, what,
			"method", c.Request.Method, "path", secret.Redacted(c.Request.URL.Path), "code", p.Code, "error", p.Error())
	}
	if c.Writer.Written() {
		// Half an answer is on its way: only cutting the connection tells the client that it is not whole.
		panic(http.ErrAbortHandler)
	}
	if p.RetryAfter == 0 && p.Status() == http.StatusServiceUnavailable {
		p.RetryAfter = time.Second
	}
	p.Write(c.Writer, h.deps.PublicURL, middleware.RequestIDOf(c))
}
