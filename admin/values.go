package admin

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"lottery/models"
)

// oneOf returns value if it is among allowed.
func oneOf(what, value string, allowed ...string) (string, error) {
	if slices.Contains(allowed, value) {
		return value, nil
	}
	return "", models.Errorf(models.CodeInvalid, "%s must be %s, not %q", what, models.OrList(allowed), value)
}

// wholeNumber reads a decimal number from low to high.
func wholeNumber(what, text string, low, high int) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < low || n > high {
		return 0, models.Errorf(models.CodeInvalid, "%s must be a whole number from %d to %d, not %q", what, low, high, text)
	}
	return n, nil
}

// number reads a flag's number, from 1 to most; fallback if the flag was not given.
func (c *call) number(flag string, fallback, most int) (int, error) {
	if !c.IsSet(flag) {
		return fallback, nil
	}
	return wholeNumber("--"+flag, c.String(flag), 1, most)
}

// date reads a flag's date; nil if the flag was not given.
func (c *call) date(flag string) (*models.Date, error) {
	if !c.IsSet(flag) {
		return nil, nil //nolint:nilnil // no date asked for is no date
	}
	d, err := models.ParseDate(c.String(flag))
	if err != nil {
		return nil, models.Errorf(models.CodeInvalid, "--%s: %v", flag, err)
	}
	return &d, nil
}

// plan reads --plan; nil if it was not given.
func (c *call) plan() (*models.Plan, error) {
	if !c.IsSet("plan") {
		return nil, nil //nolint:nilnil // no plan asked for is no plan
	}
	p, err := models.ParsePlan(c.String("plan"))
	if err != nil {
		return nil, err
	}
	return &p, nil
}

// onlyAccount reads --account, which narrows a list, and returns the account's id; "" if it was not given.
func (c *call) onlyAccount(ctx context.Context) (id string, err error) {
	if !c.IsSet("account") {
		return "", nil
	}
	a, err := c.store.KeptAccount(ctx, asStored(c.String("account")))
	return a.ID, err
}

// onlyGame reads --game, which narrows a list to a game that there must be; "" if it was not given.
func (c *call) onlyGame(ctx context.Context) (id string, err error) {
	if id = c.String("game"); id != "" {
		_, err = c.store.Game(ctx, id)
	}
	return id, err
}

const (
	day  = 24 * time.Hour
	week = 7 * day

	maxSpan = 36500 * day // about the most that time.Duration holds
)

// parseSpan reads Nd, Nw, or a Go duration such as 36h or 90m; 0 or more.
func parseSpan(what, text string) (time.Duration, error) {
	fault := models.Errorf(models.CodeInvalid, "%s must be a time such as 90d, 2w or 36h, at most 100 years, not %q", what, text)
	unit := time.Duration(0)
	switch {
	case strings.HasSuffix(text, "d"):
		unit = day
	case strings.HasSuffix(text, "w"):
		unit = week
	}
	if unit == 0 {
		span, err := time.ParseDuration(text)
		if err != nil || span < 0 || span > maxSpan {
			return 0, fault
		}
		return span, nil
	}
	n, err := strconv.ParseUint(text[:len(text)-1], 10, 31)
	if err != nil || time.Duration(n) > maxSpan/unit {
		return 0, fault
	}
	return time.Duration(n) * unit, nil
}

// parseExpiry reads a span from now, or a date, which means the end of that UTC day. The result must be after now.
func parseExpiry(text string, now time.Time) (time.Time, error) {
	var at time.Time
	if date, err := models.ParseDate(text); err == nil {
		at = (date + 1).Time().Add(-time.Microsecond) // what both databases can store
	} else {
		if strings.Count(text, "-") == 2 { // probably meant as a date: say what is wrong with that
			return at, models.Errorf(models.CodeInvalid, "--expires: %v", err)
		}
		span, err := parseSpan("--expires", text)
		if err != nil {
			return at, models.Errorf(models.CodeInvalid, "--expires must be a time such as 90d, 2w or 36h, at most 100 years, or a date such as 2027-12-31, not %q", text)
		}
		at = now.Add(span)
	}
	if !at.After(now) {
		return at, models.Errorf(models.CodeInvalid, "--expires %s is not in the future", text)
	}
	return at.UTC(), nil
}
