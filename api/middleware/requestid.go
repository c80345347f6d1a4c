package middleware

import (
	"encoding/hex"
	"math/rand/v2"

	"github.com/gin-gonic/gin"
)

const maxRequestID = 128

// RequestID gives every request an id: the client's own X-Request-Id if it is 1–128 safe characters.
func RequestID() gin.HandlerFunc {
	return func(c *gin.Context) {
		sent := c.Request.Header["X-Request-Id"]
		var id string
		if len(sent) == 1 && safeID(sent[0]) {
			id = sent[0]
		} else {
			id = newRequestID()
		}
		c.Set(requestIDKey, id)
		c.Writer.Header()["X-Request-Id"] = []string{id}
	}
}

// safeID accepts what can stand in a log line and a header without quoting.
func safeID(s string) bool {
	if s == "" || len(s) > maxRequestID {
		return false
	}
	for i := range len(s) {
		c := s[i]
		switch {
		case c >= '0' && c <= '9', c >= 'A' && c <= 'Z', c >= 'a' && c <= 'z',
			c == '-', c == '_', c == '.', c == ':', c == '/', c == '+', c == '=', c == '@':
		default:
			return false
		}
	}
	return true
}

// newRequestID is 96 random bits: unique, and no secret.
func newRequestID() string {
	var b [12]byte
	hi, lo := rand.Uint64(), rand.Uint32()
	for i := range 8 {
		b[i] = byte(hi >> (8 * i))
	}
	for i := range 4 {
		b[8+i] = byte(lo >> (8 * i))
	}
	return hex.EncodeToString(b[:])
}
