package api

import (
	"github.com/gin-gonic/gin"

	"lottery/api/middleware"
	"lottery/api/quota"
)

// gate counts the requests of the account that the key belongs to.
func (h *Handler) gate() *quota.Gate {
	return &quota.Gate{
		Store: h.deps.Quota,
		Account: func(c *gin.Context) (id string, limit int64) {
			p := middleware.PrincipalOf(c)
			return p.AccountID, int64(p.DailyLimit)
		},
		Fail: h.fail,
	}
}
