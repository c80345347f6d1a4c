package api

import (
	"bytes"
	"fmt"
	"net/http"
	"time"

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
		c.Header("Content-Type", contentType)
		c.Header("Cache-Control", "public, max-age=300")
		c.Header("ETag", tag)
		http.ServeContent(c.Writer, c.Request, "", time.Time{}, bytes.NewReader(text))
	}
}
