package api_test

import "strings"

// keyKind is the kind of key that a request presents.
type keyKind int

const (
	goodKey keyKind = iota
	noKey
	malformedKey
	unknownKey
	revokedKey
	expiredKey
	suspendedKey
	usedUpKey
	keyKinds
)

// setHeaders gives g a key of some kind, and headers that the service reads.
func (m *generator) setHeaders(g *generated) {
	if m.chance(10) {
		g.key = keyKind(m.rand.IntN(int(keyKinds)))
	}
	if list := m.keys[g.key]; len(list) > 0 {
		g.headers["X-Api-Key"] = m.pick(list...)
	}
	if m.chance(10) {
		g.headers["Accept"] = m.pick("*/*", "application/json", "text/csv", "application/x-ndjson", "image/png", "text/*;q=0.5, application/json;q=0.1", "application/*", "text/html",
			",", ";", "*/*;q=0", "application/json;q=x", "text/csv;q=0.0001", strings.Repeat("a/b,", 200), "\xff/\xff")
		g.unsure = true // 406 and its body are checked against the document only
	}
	if m.chance(10) {
		g.headers["If-None-Match"] = m.pick(append([]string{"*", "*", "*", "*, x", `""`, `W/"x"`, `"x", "y"`, "x", `"`, `W/`, strings.Repeat(`"a",`, 300)}, m.etags...)...)
	}
	if m.chance(15) {
		g.headers["Accept-Encoding"] = m.pick("gzip", "zstd", "gzip, zstd", "gzip;q=0", "br", "identity;q=0", "*", "deflate, gzip;q=1.0, *;q=0.5", ";;;")
	}
	if m.chance(5) {
		g.headers["Range"] = m.pick("bytes=0-10", "bytes=-1", "bytes=5-1", "items=0-4", "x", "bytes=0-0,2-3")
	}
	if m.chance(5) {
		g.headers["X-Request-Id"] = m.pick("abc", "a b", strings.Repeat("x", 128), strings.Repeat("x", 129), "\"><script>", "é")
	}
	if m.chance(5) {
		g.headers["Origin"] = m.pick("https://example.com", "null", "x")
	}
	if m.chance(3) {
		g.headers[m.pick("If-Match", "If-Modified-Since", "If-Range", "Content-Type", "Authorization", "Cookie", "X-Forwarded-For", "Forwarded", "X-Http-Method-Override", "Expect", "Content-Length", "Transfer-Encoding", "Upgrade")] =
			m.pick("*", "0", "Sat, 01 Jan 2050 00:00:00 GMT", "Bearer x", "127.0.0.1", "DELETE", "chunked", "websocket", "100-continue", "a=b; c=d")
	}
	if m.chance(1) {
		g.headers["X-Pad"] = strings.Repeat("x", 30000+m.rand.IntN(6000))
		g.unsure, g.tooLong = true, true
	}
}
