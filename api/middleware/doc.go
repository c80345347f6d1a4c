// Package middleware is what every request passes before its handler: request ID, size limits, recovery, CORS, and the
// key that identifies its account.
package middleware
