// Package middleware is what stands between the network and the handlers of the API and the pages: the listener's
// connections with their time limits (Connections), the limit on requests in flight (Front), and what requests pass on
// their way: request ID, size limits, recovery, CORS, the key that identifies the account (Keys), metrics and access log
// (Traffic).
package middleware
