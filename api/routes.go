package api

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"lottery/api/middleware"
	"lottery/api/problem"
)

// route is a path of the service. GET routes also answer HEAD and OPTIONS.
type route struct {
	path    string
	handler gin.HandlerFunc
}

// dateRoute is the only route with a path parameter, as Gin writes it.
const dateRoute = "/v1/draws/date/:date"

// draws returns the routes that need a key and are counted.
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

// account returns the routes that need a key and are not counted.
func (h *Handler) account() []route {
	if h.deps.Quota == nil {
		return nil // requests are not counted, so there is no usage to report
	}
	return []route{
		{"/v1/usage", h.usage()},
	}
}

// open returns the routes that anyone may call, uncounted.
func (h *Handler) open() []route {
	return []route{
		{"/openapi.yaml", h.openAPI("application/yaml", false)},
		{"/openapi.json", h.openAPI("application/json", true)},
		{"/healthz", h.health},
		{"/readyz", h.ready},
	}
}

// routes builds the router: every route, behind the middleware that every request passes.
func (h *Handler) routes() http.Handler {
	gin.SetMode(gin.ReleaseMode)
	e := gin.New()
	// Paths are taken literally, without redirects; a method that a path does not support is 405.
	e.RedirectTrailingSlash = false
	e.RedirectFixedPath = false
	e.HandleMethodNotAllowed = true
	e.ContextWithFallback = true
	e.ForwardedByClientIP = false
	e.Use(middleware.RequestID(), h.deps.Traffic.Observe(), middleware.Recovery(h.fail), middleware.CORS(), middleware.SizeLimits(h.fail))
	e.NoRoute(func(c *gin.Context) {
		if c.Request.Method == http.MethodOptions && c.GetHeader("Access-Control-Request-Method") != "" {
			middleware.Preflight(c) // lets a web page read what is wrong with the path
			return
		}
		h.fail(c, problem.New(problem.NotFound, "no endpoint has this path; /openapi.json lists all endpoints"))
	})
	e.NoMethod(func(c *gin.Context) {
		h.fail(c, problem.New(problem.MethodNotAllowed, "this path supports GET, HEAD and OPTIONS"))
	})
	answer := func(to gin.IRoutes, routes []route) {
		for _, r := range routes {
			to.GET(r.path, r.handler)
			to.HEAD(r.path, r.handler)
			e.OPTIONS(r.path, middleware.Preflight) // needs no key
		}
	}
	answer(e, h.open())
	answer(e.Group("", h.keyed(h.count())), h.draws())
	answer(e, h.account())
	for _, r := range e.Routes() {
		h.deps.Traffic.Know(r.Path, endpointName(r.Path))
	}
	return engine{e}
}

// keyed passes requests with a valid key to next.
func (h *Handler) keyed(next func(*gin.Context, *middleware.Principal)) gin.HandlerFunc {
	return middleware.RequireKey(h.deps.Keys, h.deps.WrongKeys, h.fail, next)
}

// count returns a function that counts a request against the key's account, if requests are counted.
func (h *Handler) count() func(*gin.Context, *middleware.Principal) {
	if h.deps.Quota == nil {
		return func(*gin.Context, *middleware.Principal) {}
	}
	gate := h.gate()
	return func(c *gin.Context, p *middleware.Principal) { gate.Handle(c, p.AccountID, int64(p.DailyLimit)) }
}
