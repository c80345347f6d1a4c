package middleware

import (
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"

	"github.com/gin-gonic/gin"

	"lottery/api/problem"
)

// Recovery turns a panic into one 500 and one log line. fail writes and logs the problem.
func Recovery(fail func(*gin.Context, error)) gin.HandlerFunc {
	return func(c *gin.Context) {
		defer func() {
			v := recover()
			if v == nil {
				return
			}
			if err, ok := v.(error); ok && errors.Is(err, http.ErrAbortHandler) {
				panic(v) // net/http's own way to cut a connection
			}
			p := problem.New(problem.Internal, "an unexpected error was logged; try again, and if it keeps happening, give support the request ID")
			p.Cause = fmt.Errorf("panic: %v\n%s", v, debug.Stack())
			fail(c, p)
			c.Abort()
		}()
		c.Next()
	}
}
