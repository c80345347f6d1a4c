package api

import (
	"bytes"
	"fmt"
	"net/http"

	"github.com/gin-gonic/gin"

	"lottery/api/openapi"
)

// openAPI serves the contract. Its examples name the service's own address.
func (h *Handler) openAPI(contentType string, asJSON bool) gin.HandlerFunc {
	text, err := openapi.YAML(), error(nil)
	if asJSON {
		text, err = openapi.JSON()
	}
	if err != nil {
		panic(err) // the document is embedded and tested: a programming error
	}
	text = bytes.ReplaceAll(text, []byte("http://localhost:8080"), []byte(h.deps.PublicURL))
	tag := fmt.Sprintf(`"%x"`, uint64(newHash().text(string(text))))
	return func(c *gin.Context) {
		c.Header("Cache-Control", "public, max-age=300")
		c.Header("ETag", tag)
		if matches(c.Request.Header["If-None-Match"], tag) {
			c.Status(http.StatusNotModified)
			return
		}
		c.Data(http.StatusOK, contentType, text) // whole: http.ServeContent would answer ranges, and 412 and 416 in plain text
	}
}
