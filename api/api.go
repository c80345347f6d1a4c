// Package api is the public HTTP API: routes, handlers and encoders. It answers from the catalog in memory; requests
// for draws touch the database only for a key that this node has not seen yet.
package api

import (
	"errors"
	"hash/maphash"
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

// Deps is what the API depends on.
type Deps struct {
	Catalog   *catalog.Live
	Keys      *middleware.Keys
	Store     *store.Store          // for /v1/usage
	WrongKeys *middleware.WrongKeys // slows down clients that guess keys; nil = no limit
	Quota     *quota.Store          // counts requests; nil = they are not counted
	Usage     *quota.Usage          // statistics of counted requests
	Warnings  *quota.Warnings       // learns when a day's quota runs out
	Traffic   *middleware.Traffic   // counts all requests; nil = they are not counted
	Ready     func() error          // why this node should get no traffic now; nil error = it should
	PublicURL string                // scheme and host of the service, without a trailing slash
	Build     models.Build
	Log       *slog.Logger
}

// Handler answers every route of the API.
type Handler struct {
	deps      Deps
	build     string
	texts     atomic.Pointer[textCache]
	answers   answerCache
	longLists lastConnection
}

// textCache caches JSON texts that are made once per data version. It does not reference the catalog, which would keep
// it alive.
type textCache struct {
	version string
	texts   sync.Map // name → []byte
}

// New returns the API as one http.Handler.
func New(deps Deps) http.Handler {
	h := &Handler{deps: deps, build: deps.Build.Identity(), longLists: lastConnection{seed: maphash.MakeSeed()}}
	return h.routes()
}

// fail writes an error: a Problem as it is, anything else as 500. Nothing else writes errors.
func (h *Handler) fail(c *gin.Context, err error) {
	p, ok := errors.AsType[*problem.Problem](err)
	if !ok {
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
		// Part of the answer is already sent: only cutting the connection tells the client that it is incomplete.
		panic(http.ErrAbortHandler)
	}
	if p.RetryAfter == 0 && p.Status() == http.StatusServiceUnavailable {
		p.RetryAfter = time.Second
	}
	p.Write(c.Writer, h.deps.PublicURL, middleware.RequestIDOf(c))
}
