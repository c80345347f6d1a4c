// Package middleware is what every request passes before its handler: an id, limits on its size,
// recovery, CORS, and the key that says whose it is.
package middleware
