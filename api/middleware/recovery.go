package middleware

import (
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"

	"github.com/gin-gonic/gin"
)

// Recovery turns a panic into one 500 and one log line. fail answers and logs the error.
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
			fail(c, fmt.Errorf("panic: %v\n%s", v, debug.Stack()))
			c.Abort()
		}()
		c.Next()
	}
}
