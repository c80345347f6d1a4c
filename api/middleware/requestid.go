package middleware

import (
	"encoding/binary"
	"encoding/hex"
	"math/rand/v2"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"

	"lottery/models/secret"
)

const (
	requestID    = "X-Request-Id"
	maxRequestID = 128
)

// RequestID gives every request an ID: the client's X-Request-Id if it is 1–128 safe characters, else a new one.
func RequestID() gin.HandlerFunc {
	return func(c *gin.Context) {
		c.Writer.Header()[requestID] = idOf(c.Request)
	}
}

// idOf returns the ID of a request as header values: the client's own, or a new one.
func idOf(r *http.Request) []string {
	if id := r.Header[requestID]; len(id) == 1 && safeID(id[0]) {
		return id
	}
	return []string{newRequestID()}
}

// safeID accepts IDs that need no quoting in a log line or header. It rejects a key put there by mistake.
func safeID(s string) bool {
	if s == "" || len(s) > maxRequestID || strings.Contains(s, secret.KeyPrefix) {
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

// newRequestID returns 96 random bits in hex: unique, but not secret.
func newRequestID() string {
	var b [12]byte
	binary.BigEndian.PutUint64(b[:8], rand.Uint64())
	binary.BigEndian.PutUint32(b[8:], rand.Uint32())
	var text [2 * len(b)]byte
	hex.Encode(text[:], b[:])
	return string(text[:])
}

// RequestIDOf returns the ID of c's request.
func RequestIDOf(c *gin.Context) string { return c.Writer.Header().Get(requestID) }
