// Package middleware is what every request passes before its handler: an id, limits on its size,
// recovery, CORS, and the key that says whose it is.
package middleware

import (
	"github.com/gin-gonic/gin"
)

const (
	requestIDKey = "request_id"
	principalKey = "principal"
)

// RequestIDOf is the id of c's request.
func RequestIDOf(c *gin.Context) string { return c.GetString(requestIDKey) }
