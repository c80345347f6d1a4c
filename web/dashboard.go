package web

import (
	"cmp"
	"context"
	"fmt"
	"html/template"
	"net/http"
	"slices"
	"time"

	"lottery/models"
	"lottery/models/store"
)

// chartDays is how many days the dashboard's chart shows.
const chartDays = 30

// usageView is the data of the dashboard's first page.
type usageView struct {
	usage
	Chart     template.HTML
	Endpoints []endpointUse
	HasKeys   bool
	Standing  planView
}

// usage is what an account has used of today's quota, and its requests on the days before.
type usage struct {
	Used, Limit, Remaining int64
	Percent                int // 0…100
	ResetsIn               string
	Today                  models.Date
	Days                   []dayCount // today first
	Total                  int64      // of Days
}

type dayCount struct {
	Day      models.Date
	Requests int64
}

// endpointUse counts an account's requests to one endpoint over the days of the chart.
type endpointUse struct {
	Endpoint    string
	OK, Refused int64 // by status: below 400, and 4xx
	Share       int   // of the busiest endpoint's requests, in percent
}

func (h *Handler) dashboard(w http.ResponseWriter, r *http.Request, v *visitor) error {
	standing, err := h.standing(r, v)
	if err != nil {
		return err
	}
	u, err := h.usageOf(r.Context(), v)
	if err != nil {
		return err
	}
	byEndpoint, err := h.deps.Store.UsageByEndpoint(r.Context(), v.Account.ID, u.Today-chartDays+1, u.Today)
	if err != nil {
		return err
	}
	hasKeys, err := h.deps.Store.HasKeys(r.Context(), v.Account.ID)
	if err != nil {
		return err
	}
	h.show(w, r, view{Page: "dashboard", Title: "Usage", Section: "dashboard", Sub: "usage", Private: true, Data: usageView{
		usage: u, Chart: usageChart(u.Days, u.Limit), Endpoints: endpointUses(byEndpoint), HasKeys: hasKeys, Standing: standing,
	}})
	return nil
}

// usageOf returns what an account has used: today's requests come from the quota counters, those of earlier days from
// the usage statistics, including what is not written to the database yet.
func (h *Handler) usageOf(ctx context.Context, v *visitor) (usage, error) {
	u := usage{Limit: int64(v.Account.DailyLimit(h.deps.Plans))}
	now := h.deps.Now().UTC()
	resets := now.Truncate(24 * time.Hour).Add(24 * time.Hour)
	if h.deps.Quota != nil {
		var err error
		if u.Used, u.Remaining, resets, err = h.deps.Quota.Used(ctx, v.Account.ID, u.Limit); err != nil {
			return u, &models.Error{Code: models.CodeUnavailable, Message: "usage cannot be read", Err: err}
		}
		now = h.deps.Quota.Now()
	}
	u.Today = models.DateOf(resets) - 1
	left := max(0, resets.Sub(now))
	u.ResetsIn = shortDuration(left)
	u.Percent = 100 // with a limit of 0, all of it is used
	if u.Limit > 0 {
		u.Percent = int(min(100, u.Used*100/u.Limit))
	}
	days, err := h.deps.Store.UsageByDay(ctx, v.Account.ID, u.Today-chartDays+1, u.Today)
	if err != nil {
		return u, err
	}
	for day := u.Today; day > u.Today-chartDays; day-- {
		n := u.Used
		if day < u.Today {
			n = 0
			if at := slices.IndexFunc(days, func(d store.DayUsage) bool { return d.Day == day }); at >= 0 {
				n = days[at].Requests
			}
			if h.deps.Usage != nil {
				n += h.deps.Usage.Pending(v.Account.ID, day)
			}
		}
		u.Days = append(u.Days, dayCount{day, n})
		u.Total += n
	}
	return u, nil
}

func endpointUses(rows []store.EndpointUsage) []endpointUse {
	var list []endpointUse
	for _, row := range rows {
		at := slices.IndexFunc(list, func(e endpointUse) bool { return e.Endpoint == row.Endpoint })
		if at < 0 {
			at = len(list)
			list = append(list, endpointUse{Endpoint: row.Endpoint})
		}
		if row.Class < 4 {
			list[at].OK += row.Requests
		} else {
			list[at].Refused += row.Requests
		}
	}
	slices.SortStableFunc(list, func(a, b endpointUse) int { return cmp.Compare(b.OK+b.Refused, a.OK+a.Refused) })
	for i := range list {
		list[i].Share = int((list[i].OK + list[i].Refused) * 100 / max(1, list[0].OK+list[0].Refused))
	}
	return list
}

func shortDuration(d time.Duration) string {
	hours, minutes := int(d.Hours()), int(d.Minutes())%60
	switch {
	case d < time.Minute:
		return "less than a minute"
	case hours == 0:
		return fmt.Sprintf("%d min", minutes)
	default:
		return fmt.Sprintf("%d h %d min", hours, minutes)
	}
}
