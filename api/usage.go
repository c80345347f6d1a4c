package api

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/ulule/limiter/v3"
	counters "github.com/ulule/limiter/v3/drivers/store/memory"

	"lottery/api/middleware"
	"lottery/api/problem"
	"lottery/api/quota"
	"lottery/models"
	"lottery/models/store"
)

// usageDays is how many days /v1/usage covers.
const usageDays = 30

// usageCalls limits how often an account may ask each node. An answer takes two queries to the database.
var usageCalls = limiter.Rate{Period: time.Minute, Limit: 60}

// usageTimeout bounds how long a request waits for a silent database.
const usageTimeout = 2 * time.Second

// usageJSON is /v1/usage.
type usageJSON struct {
	Plan      models.Plan    `json:"plan"`
	Limit     int64          `json:"limit"`
	Used      int64          `json:"used"`
	Remaining int64          `json:"remaining"`
	ResetsAt  time.Time      `json:"resets_at"`
	Days      []usageDayJSON `json:"days"`
}

type usageDayJSON struct {
	Date     models.Date `json:"date"`
	Requests int64       `json:"requests"`
}

// spending is what an account has used of the current day.
type spending struct {
	used, remaining int64
	resetsAt        time.Time
}

// usage answers /v1/usage.
type usage struct {
	h     *Handler
	gate  *quota.Gate
	often *limiter.Limiter
	last  sync.Map // account id → spending
}

// usage is /v1/usage: what the account has used today and on the days before. It is not counted, and it answers even
// when the quota is exhausted.
func (h *Handler) usage() gin.HandlerFunc {
	counts := counters.NewStoreWithOptions(limiter.StoreOptions{Prefix: "usage", CleanUpInterval: time.Minute})
	u := &usage{h: h, gate: h.gate(), often: limiter.New(counts, usageCalls)}
	return h.keyed(func(c *gin.Context, p *middleware.Principal) {
		x := calls.Get().(*call) //nolint:forcetypeassert // the pool makes nothing else
		defer x.release()
		x.h, x.c, x.cat = h, c, nil
		if err := u.answer(x, p); err != nil {
			h.fail(c, err)
		}
	})
}

// spending asks the quota's counters. If the account asks too often, it gets its last answer again while its day lasts.
func (u *usage) spending(ctx context.Context, p *middleware.Principal, tooOften bool) (spending, error) {
	if last, ok := u.last.Load(p.AccountID); ok && tooOften {
		if known, ok := last.(spending); ok && u.h.deps.Quota.Now().Before(known.resetsAt) {
			return known, nil
		}
	}
	var now spending
	var err error
	now.used, now.remaining, now.resetsAt, err = u.h.deps.Quota.Used(ctx, p.AccountID, int64(p.DailyLimit))
	if err != nil {
		return now, usageUnavailable(err)
	}
	u.last.Store(p.AccountID, now)
	return now, nil
}

func (u *usage) answer(x *call, p *middleware.Principal) error {
	ctx, cancel := context.WithTimeout(x.c.Request.Context(), usageTimeout)
	defer cancel()
	rate, err := middleware.Count(ctx, u.often, p.AccountID)
	if err != nil {
		return err
	}
	now, err := u.spending(ctx, p, rate.Reached)
	if err != nil {
		return err
	}
	u.gate.Headers(x.c, int64(p.DailyLimit), now.remaining, now.resetsAt.Unix())
	if rate.Reached {
		return &problem.Problem{
			Code: problem.RateLimited, Detail: "/v1/usage may be called 60 times a minute; the rate limit headers of every request that counts show what is left of the day",
			RetryAfter: max(time.Second, time.Until(time.Unix(rate.Reset, 0))),
		}
	}
	x.bind.reset(nil)
	x.bind.parse(x.c.Request.URL.RawQuery)
	if err := x.chooseForm(false); err != nil {
		return err
	}
	if err := x.bind.err(); err != nil {
		return err
	}
	return x.writeUsage(ctx, p, now)
}

// writeUsage answers. Today's number is the quota's count; those of earlier days come from the statistics.
func (x *call) writeUsage(ctx context.Context, p *middleware.Principal, now spending) error {
	today := models.DateOf(now.resetsAt) - 1
	days, err := x.h.deps.Store.UsageByDay(ctx, p.AccountID, today-usageDays+1, today)
	if err != nil {
		return usageUnavailable(err)
	}
	out := usageJSON{Plan: p.Plan, Limit: int64(p.DailyLimit), Used: now.used, Remaining: now.remaining, ResetsAt: now.resetsAt}
	for day := today; day > today-usageDays; day-- {
		n := now.used
		if day < today {
			n = requestsOn(days, day) + x.h.deps.Usage.Pending(p.AccountID, day)
		}
		out.Days = append(out.Days, usageDayJSON{day, n})
	}
	text, err := json.Marshal(out)
	if err != nil {
		return err
	}
	x.body = append(append(x.body[:0], text...), '\n')
	h := x.c.Writer.Header()
	h["Cache-Control"] = []string{"no-store"}
	h["Vary"] = vary
	return x.send()
}

func requestsOn(days []store.DayUsage, day models.Date) int64 {
	for _, d := range days {
		if d.Day == day {
			return d.Requests
		}
	}
	return 0
}

func usageUnavailable(err error) error {
	return &problem.Problem{
		Code: problem.Unavailable, Detail: "usage cannot be looked up at the moment; try again shortly", RetryAfter: 5 * time.Second, Cause: err,
	}
}
