package api

import (
	"github.com/gin-gonic/gin"

	"lottery/api/quota"
	"lottery/models"
)

// gate returns a gate that counts requests.
func (h *Handler) gate() *quota.Gate {
	return &quota.Gate{
		Store:   h.deps.Quota,
		Counted: h.counted,
		Fail:    h.fail,
	}
}

// counted receives each counted request. It only updates memory.
func (h *Handler) counted(c *gin.Context, id string, day models.Date, limit, used int64, status int) {
	h.deps.Usage.Record(id, day, endpointName(c.FullPath()), status)
	h.deps.Warnings.Check(id, day, limit, used)
}

// endpointName is a route as the API contract writes it.
func endpointName(route string) string {
	if route == dateRoute {
		return "/v1/draws/date/{date}"
	}
	return route
}
