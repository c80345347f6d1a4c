package middleware

import (
	"github.com/gin-gonic/gin"

	"lottery/api/problem"
)

// Size limits of a request. The server's own limit (http.Server.MaxHeaderBytes) must be higher: beyond it net/http
// answers by itself, in plain text.
const (
	MaxTargetBytes = 8 << 10
	MaxHeaderBytes = 32 << 10
)

// SizeLimits refuses oversized targets and headers. fail writes the problem.
func SizeLimits(fail func(*gin.Context, error)) gin.HandlerFunc {
	return func(c *gin.Context) {
		if len(c.Request.RequestURI) > MaxTargetBytes {
			fail(c, problem.New(problem.URITooLong, "the request URL is %d bytes long; the limit is %d", len(c.Request.RequestURI), MaxTargetBytes))
			c.Abort()
			return
		}
		size := 0
		for name, values := range c.Request.Header {
			for _, v := range values {
				size += len(name) + len(v) + len(": \r\n")
			}
		}
		if size > MaxHeaderBytes {
			fail(c, problem.New(problem.HeadersTooLarge, "the request headers are %d bytes long; the limit is %d", size, MaxHeaderBytes))
			c.Abort()
		}
	}
}
