package api

import (
	"bytes"
	"fmt"
	"net/http"

	"github.com/gin-gonic/gin"

	"lottery/api/openapi"
)

// openAPI serves the contract, with the service's own address in the examples.
func (h *Handler) openAPI(contentType string, asJSON bool) gin.HandlerFunc {
	text, err := openapi.YAML(), error(nil)
	if asJSON {
		text, err = openapi.JSON()
	}
	if err != nil {
		panic(err) // the document is embedded and tested: a programming error
	}
	text = bytes.ReplaceAll(text, []byte("http://localhost:8080"), []byte(h.deps.PublicURL))
	coded := map[*encoder][]byte{nil: text}
	for _, e := range []*encoder{gzipEncoder, zstdEncoder} {
		if coded[e], err = e.compress(nil, text); err != nil {
			panic(err) // writing to memory does not fail: a programming error
		}
	}
	tag := fmt.Sprintf(`W/"%x"`, uint64(newHash().text(string(text)))) // weak, since it does not cover the coding
	return func(c *gin.Context) {
		c.Header("Cache-Control", "public, max-age=300")
		c.Header("ETag", tag)
		c.Header("Vary", "Accept-Encoding, Origin")
		if matches(c.Request.Header["If-None-Match"], tag) {
			c.Status(http.StatusNotModified)
			return
		}
		coding := acceptedEncoder(c.Request.Header["Accept-Encoding"])
		if coding != nil {
			c.Writer.Header()["Content-Encoding"] = coding.name
		}
		c.Data(http.StatusOK, contentType, coded[coding]) // in full: http.ServeContent would answer ranges, 412 and 416 in plain text
	}
}
