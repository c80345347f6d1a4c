package quota

import (
	"net/http"
	"strconv"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/ulule/limiter/v3"

	"lottery/api/problem"
	"lottery/models"
)

// Gate counts requests in front of the handlers. Every request that reaches it counts, unless it is refused here
// or fails with 5xx.
type Gate struct {
	Store *Store
	// Counted, if not nil, is called for each counted request, with the day that the counters put
	// it in. It must not block.
	Counted func(c *gin.Context, id string, day models.Date, limit, used int64, status int)
	// Fail writes a refusal.
	Fail func(c *gin.Context, err error)

	texts texts
}

// Handle lets a request of account id through unless limit, its current daily limit, is reached.
func (g *Gate) Handle(c *gin.Context, id string, limit int64) {
	state, err := g.Store.Get(c.Request.Context(), id, limiter.Rate{Period: Day, Limit: limit})
	if err != nil { // only while the server is shutting down
		g.Fail(c, &problem.Problem{Code: problem.Unavailable, Detail: "this server is shutting down; try again", RetryAfter: time.Second, Cause: err})
		c.Abort()
		return
	}
	g.Headers(c, limit, state.Remaining, state.Reset)
	if state.Reached {
		g.Fail(c, &problem.Problem{
			Code:       problem.QuotaExceeded,
			Detail:     spent(limit),
			RetryAfter: g.untilReset(state.Reset),
		})
		c.Abort()
		return
	}
	status := http.StatusInternalServerError // if a handler panics
	defer func() {
		if status >= http.StatusInternalServerError {
			g.Store.GiveBack(id, Day, state.Reset)
			return
		}
		if g.Counted != nil {
			g.Counted(c, id, dateOf(time.Unix(state.Reset, 0))-1, limit, limit-state.Remaining, status)
		}
	}()
	c.Next()
	status = c.Writer.Status()
}

// spent explains why no request is left today. Where the limit is 0, waiting for tomorrow does not help.
func spent(limit int64) string {
	switch limit {
	case 0:
		return "the daily limit of this account is 0, so none of its requests are served on any day; contact support if that looks wrong"
	case 1:
		return "the one request for today is used; the quota resets at 00:00 UTC"
	default:
		return "all " + strconv.FormatInt(limit, 10) + " requests for today are used; the quota resets at 00:00 UTC"
	}
}

func (g *Gate) untilReset(reset int64) time.Duration {
	return max(time.Second, time.Unix(reset, 0).Sub(g.Store.Now()))
}
