package admin

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"

	"github.com/urfave/cli/v2"

	"lottery/api/quota"
	"lottery/models"
	"lottery/models/store"
)

func (t *tool) usage() *cli.Command {
	return &cli.Command{Name: "usage", Usage: "requests by account", Subcommands: []*cli.Command{
		{
			Name: "show", Usage: "show an account's requests, by day and by endpoint", ArgsUsage: "ACCOUNT",
			Description: "Today's requests come from the quota's counter, including those that servers briefly reserve in advance;\n" +
				"earlier days and the endpoints come from statistics, which lag by a few seconds.\n" +
				"Refused requests (429) and failed ones (5xx) do not count. Days are UTC days. The numbers are kept after\n" +
				"an account is closed; look it up by its ID.\n\n" +
				"Example:\n  lotteryadmin usage show ada@example.com --days 7",
			Flags: []cli.Flag{
				&cli.StringFlag{Name: "days", Usage: fmt.Sprintf("the last `N` days; default 30, at most %d", models.UsageKept)},
			},
			Action: t.stored(usageShow),
		},
		{
			Name: "top", Usage: "list the accounts with the most requests on a day",
			Description: "Example:\n  lotteryadmin usage top --day 2026-03-01 --limit 50",
			Flags: []cli.Flag{
				&cli.StringFlag{Name: "day", Usage: "the `DATE` in UTC; default today"},
				&cli.StringFlag{Name: "limit", Usage: "at most `N` accounts; default 20"},
			},
			Action: t.stored(usageTop),
		},
	}}
}

const (
	usageDays   = 30
	topAccounts = 20
	mostTop     = 1000
)

// spending is what an account has used of its current day.
type spending struct {
	Used      int64  `json:"used"`
	Remaining int64  `json:"remaining"`
	Limit     int64  `json:"limit"`
	ResetsAt  string `json:"resets_at"`
}

// accountUsage is what `usage show` prints.
type accountUsage struct {
	AccountID string          `json:"account_id"`
	Plan      models.Plan     `json:"plan"`
	Limit     int64           `json:"limit"`
	Used      int64           `json:"used"`
	Remaining int64           `json:"remaining"`
	ResetsAt  string          `json:"resets_at"`
	Days      []dayUsage      `json:"days"`
	Endpoints []endpointUsage `json:"endpoints"`
}

type dayUsage struct {
	Date     string `json:"date"`
	Requests int64  `json:"requests"`
}

type endpointUsage struct {
	Endpoint string `json:"endpoint"`
	Class    string `json:"class"` // 2xx
	Requests int64  `json:"requests"`
}

// topAccount is one line of `usage top`.
type topAccount struct {
	AccountID string      `json:"account_id"`
	Email     *string     `json:"email"`
	Plan      models.Plan `json:"plan"`
	Requests  int64       `json:"requests"`
}

// spendingOf asks the counters, wherever they are, what a has used of what they consider today.
func (c *call) spendingOf(ctx context.Context, a *models.Account) (s spending, today models.Date, err error) {
	days, err := c.store.UsageByDay(ctx, a.ID, models.FirstDate, models.LastDate) // before the counters, as they lag behind
	if err != nil {
		return s, today, err
	}
	if c.cfg.RedisURL == "" {
		s.Used, today, err = c.store.CountedToday(ctx, a.ID)
	} else {
		s.Used, today, err = c.countedElsewhere(ctx, a.ID)
	}
	s.Limit = int64(a.DailyLimit(c.cfg.Plans))
	s.Remaining = max(0, s.Limit-s.Used)
	s.ResetsAt = stamp((today + 1).Time())
	if i := slices.IndexFunc(days, func(d store.DayUsage) bool { return d.Day == today }); err == nil && i >= 0 {
		c.compareCounts(a.ID, s.Used, days[i].Requests)
	}
	return s, today, err
}

// compareCounts warns if the statistics have more requests of today than the counters. They only lag behind, so these
// are not the counters that the servers use, or they lost something; what is left of the day is then another number.
func (c *call) compareCounts(accountID string, used, written int64) {
	if written <= used {
		return
	}
	where, remedy := "Redis", "Redis lost counts, or the servers use another one or the database (redis_url)"
	if c.cfg.RedisURL == "" {
		where, remedy = "the database", "if the servers count in Redis, lotteryadmin needs their redis_url"
	}
	c.say("Warning: %s has counted %s of %s today, but the statistics have %d: %s.", where, models.Count(used, "request"), accountID, written, remedy)
}

// countedElsewhere asks counters outside the database.
func (c *call) countedElsewhere(ctx context.Context, accountID string) (used int64, today models.Date, err error) {
	backend, closer, err := quota.OpenBackend(c.cfg, c.store, slog.New(slog.DiscardHandler))
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, closer()) }()
	results, now, err := backend.ApplyQuota(ctx, []store.QuotaOp{{Kind: store.QuotaPeek, Key: accountID, Period: quota.Day}})
	if err != nil {
		return 0, 0, &models.Error{Code: models.CodeUnavailable, Message: "the quota counters are not responding", Err: err}
	}
	return results[0].Used, models.DateOf(now.UTC()), nil
}

func usageShow(ctx context.Context, c *call) error {
	days, err := c.number("days", usageDays, models.UsageKept)
	if err != nil {
		return err
	}
	a, err := c.store.KeptAccount(ctx, c.account())
	if err != nil {
		return err
	}
	s, today, err := c.spendingOf(ctx, &a)
	if err != nil {
		return err
	}
	first := today - models.Date(days) + 1
	counted, err := c.store.UsageByDay(ctx, a.ID, first, today)
	if err != nil {
		return err
	}
	endpoints, err := c.store.UsageByEndpoint(ctx, a.ID, first, today)
	if err != nil {
		return err
	}
	plan, _ := a.Plan()
	out := accountUsage{
		AccountID: a.ID, Plan: plan, Limit: s.Limit, Used: s.Used, Remaining: s.Remaining, ResetsAt: s.ResetsAt,
		Days: make([]dayUsage, days), Endpoints: make([]endpointUsage, len(endpoints)),
	}
	for i := range out.Days {
		out.Days[i].Date = (today - models.Date(i)).String()
	}
	for _, d := range counted {
		out.Days[today-d.Day].Requests = d.Requests
	}
	out.Days[0].Requests = s.Used
	for i, e := range endpoints {
		out.Endpoints[i] = endpointUsage{e.Endpoint, fmt.Sprintf("%dxx", e.Class), e.Requests}
	}
	return c.result(out)
}

func usageTop(ctx context.Context, c *call) error {
	limit, err := c.number("limit", topAccounts, mostTop)
	if err != nil {
		return err
	}
	day, err := c.date("day")
	if err != nil {
		return err
	}
	if day == nil {
		today, err := c.store.Today(ctx)
		if err != nil {
			return err
		}
		day = &today
	}
	top, err := c.store.UsageTop(ctx, *day, limit)
	if err != nil {
		return err
	}
	list := make([]topAccount, len(top))
	for i := range top {
		plan, _ := top[i].Account.Plan()
		list[i] = topAccount{top[i].Account.ID, top[i].Account.Email, plan, top[i].Requests}
	}
	return c.result(list)
}
