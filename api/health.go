package api

import (
	"net/http"

	"github.com/gin-gonic/gin"
)

// health is /healthz: the process is alive.
func (h *Handler) health(c *gin.Context) {
	c.Header("Cache-Control", "no-store")
	c.JSON(http.StatusOK, gin.H{"status": "ok"})
}

// ready is /readyz: the index is loaded and the node is not shutting down. A database that goes away later does not
// make a node unready: it can still answer.
func (h *Handler) ready(c *gin.Context) {
	c.Header("Cache-Control", "no-store")
	if err := h.deps.Ready(); err != nil {
		c.Header("Retry-After", "1")
		c.JSON(http.StatusServiceUnavailable, gin.H{"status": "not ready", "reason": err.Error()})
		return
	}
	c.JSON(http.StatusOK, gin.H{"status": "ready"})
}
