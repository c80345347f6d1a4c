package api

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/gin-gonic/gin"
)

// engine is Gin, except that it sees a path in the segments that were sent: an escaped slash does not end a segment.
type engine struct{ *gin.Engine }

var (
	keptSlash = strings.NewReplacer("%2F", "%252F", "%2f", "%252f") // keeps slashes escaped when a path is unescaped
	slash     = strings.NewReplacer("%2F", "/", "%2f", "/")
)

func (e engine) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if raw := r.URL.RawPath; raw != "" {
		if path, err := url.PathUnescape(keptSlash.Replace(raw)); err == nil && path != r.URL.Path {
			address := *r.URL
			address.Path = path
			r = r.WithContext(r.Context()) // a copy
			r.URL = &address
		}
	}
	e.Engine.ServeHTTP(w, r)
}

// segment returns a path parameter as the client meant it.
func segment(c *gin.Context, name string) string {
	value := c.Param(name)
	if strings.IndexByte(value, '%') < 0 {
		return value
	}
	return slash.Replace(value)
}
