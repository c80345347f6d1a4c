package api

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"lottery/api/middleware"
	"lottery/api/problem"
)

// route is one path of the service. GET also answers HEAD and OPTIONS.
type route struct {
	path    string
	handler gin.HandlerFunc
}

// dateRoute is the one route with a parameter in its path, as Gin writes it.
const dateRoute = "/v1/draws/date/:date"

// draws is the routes that want a key: the nine endpoints of the contract.
func (h *Handler) draws() []route {
	return []route{
		{"/v1/games", h.serve(h.games())},
		{"/v1/draws/recent", h.serve(h.recent())},
		{dateRoute, h.serve(h.byDate())},
		{"/v1/draws/search", h.serve(h.search())},
		{"/v1/draws/by-sum", h.serve(h.bySum())},
		{"/v1/draws/by-pair", h.serve(h.byPair())},
		{"/v1/draws/history", h.serve(h.history())},
		{"/v1/stats", h.serve(h.stats())},
		{"/v1/overview", h.serve(h.overview())},
	}
}

// account is the routes that want a key and are not counted.
func (h *Handler) account() []route {
	if h.deps.Quota == nil {
		return nil // nobody counts: there is nothing to tell
	}
	return []route{
		{"/v1/usage", h.usage()},
	}
}

// open is the routes that anyone may call, uncounted.
func (h *Handler) open() []route {
	return []route{
		{"/openapi.yaml", h.openAPI("application/yaml", false)},
		{"/openapi.json", h.openAPI("application/json", true)},
		{"/healthz", h.health},
		{"/readyz", h.ready},
	}
}

// routes is every route, behind what every request passes.
func (h *Handler) routes() http.Handler {
	gin.SetMode(gin.ReleaseMode)
	e := gin.New()
	// A path is what it is: no redirects, a method that a path does not have is 405.
	e.RedirectTrailingSlash = false
	e.RedirectFixedPath = false
	e.HandleMethodNotAllowed = true
	e.ContextWithFallback = true
	e.ForwardedByClientIP = false
	e.Use(middleware.RequestID(), h.deps.Traffic.Observe(), middleware.Recovery(h.fail), middleware.CORS(), middleware.SizeLimits(h.fail))
	e.NoRoute(func(c *gin.Context) {
		if c.Request.Method == http.MethodOptions && c.GetHeader("Access-Control-Request-Method") != "" {
			middleware.Preflight(c) // so that a page can read what is wrong with the path
			return
		}
		h.fail(c, problem.New(problem.NotFound, "no endpoint has this path; /openapi.json lists all endpoints"))
	})
	e.NoMethod(func(c *gin.Context) {
		h.fail(c, problem.New(problem.MethodNotAllowed, "this path supports GET, HEAD and OPTIONS"))
	})
	for _, r := range h.open() {
		answer(e, r)
	}
	counted := e.Group("", h.keyed(h.count()))
	for _, r := range h.draws() {
		answer(counted, r)
		e.OPTIONS(r.path, middleware.Preflight)
	}
	for _, r := range h.account() {
		answer(e, r)
		e.OPTIONS(r.path, middleware.Preflight)
	}
	for _, r := range h.open() {
		e.OPTIONS(r.path, middleware.Preflight)
	}
	for _, r := range e.Routes() {
		h.deps.Traffic.Know(r.Path, endpointName(r.Path))
	}
	return engine{e}
}

func answer(to gin.IRoutes, r route) {
	to.GET(r.path, r.handler)
	to.HEAD(r.path, r.handler)
}

// keyed lets requests with a key pass, to next.
func (h *Handler) keyed(next func(*gin.Context, *middleware.Principal)) gin.HandlerFunc {
	return middleware.RequireKey(h.deps.Keys, h.deps.WrongKeys, h.fail, next)
}

// count counts a request of the account that the key belongs to, where requests are counted.
func (h *Handler) count() func(*gin.Context, *middleware.Principal) {
	if h.deps.Quota == nil {
		return func(*gin.Context, *middleware.Principal) {}
	}
	gate := h.gate()
	return func(c *gin.Context, p *middleware.Principal) { gate.Handle(c, p.AccountID, int64(p.DailyLimit)) }
}
