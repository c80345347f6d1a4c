package middleware

import (
	"net/http"

	"github.com/gin-gonic/gin"
)

var (
	anyOrigin     = []string{"*"}
	exposeHeaders = []string{"ETag, Link, RateLimit, RateLimit-Policy, Retry-After, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, X-Request-Id, X-Total-Count"}
	allowHeaders  = []string{"X-API-Key, If-None-Match, X-Request-Id"}
	allowMethods  = []string{"GET, HEAD, OPTIONS"}
	maxAge        = []string{"86400"}
	noSniff       = []string{"nosniff"}
)

// CORS lets pages of any origin read the answers: access is controlled by the key, not the origin.
func CORS() gin.HandlerFunc {
	return func(c *gin.Context) {
		allowOrigin(c.Writer.Header(), c.Request)
	}
}

func allowOrigin(h http.Header, r *http.Request) {
	h["X-Content-Type-Options"] = noSniff
	if len(r.Header["Origin"]) == 0 {
		return
	}
	h["Access-Control-Allow-Origin"] = anyOrigin
	h["Access-Control-Expose-Headers"] = exposeHeaders
}

// Preflight answers OPTIONS on existing paths, and CORS preflights on any path: 204, without a key.
func Preflight(c *gin.Context) {
	h := c.Writer.Header()
	h["Allow"] = allowMethods
	h["Access-Control-Allow-Methods"] = allowMethods
	h["Access-Control-Allow-Headers"] = allowHeaders
	h["Access-Control-Max-Age"] = maxAge
	c.Status(http.StatusNoContent)
	c.Writer.WriteHeaderNow()
}
