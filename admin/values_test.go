package admin

import (
	"strings"
	"testing"
	"time"

	"lottery/models"
)

func TestParseExpiry(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	for text, want := range map[string]string{
		"90d":        "2026-06-02T05:06:07Z",
		"2w":         "2026-03-18T05:06:07Z",
		"36h":        "2026-03-05T17:06:07Z",
		"1h30m":      "2026-03-04T06:36:07Z",
		"2026-03-04": "2026-03-04T23:59:59.999999Z", // today: the end of it
		"2028-02-29": "2028-02-29T23:59:59.999999Z",
		"2100-12-31": "2100-12-31T23:59:59.999999Z",
	} {
		got, err := parseExpiry(text, now)
		if err != nil || got.Format(time.RFC3339Nano) != want {
			t.Errorf("%s: %s, %v; want %s", text, got.Format(time.RFC3339Nano), err, want)
		}
	}
	for text, want := range map[string]string{
		"2026-03-03": "not in the future", "0d": "not in the future", "0": "not in the future",
		"2027-02-29": "not a valid date", "2101-01-01": "not between", "2026-3-4": "YYYY-MM-DD",
		"": "must be a time", "d": "must be a time", "-1d": "must be a time", "1.5d": "must be a time", "90": "must be a time",
		"36501d": "at most 100 years", "99999999999999999999w": "must be a time", "tomorrow": "must be a time", "-5h": "must be a time",
	} {
		if got, err := parseExpiry(text, now); models.ErrorCode(err) != models.CodeInvalid || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %s, %v; want %q", text, got, err, want)
		}
	}
}

func TestParseSpan(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{
		"0": 0, "0s": 0, "24h": day, "2d": 2 * day, "1w": week, "36500d": maxSpan, "876000h": maxSpan, "90m": 90 * time.Minute,
	} {
		if got, err := parseSpan("--grace", text); err != nil || got != want {
			t.Errorf("%s: %s, %v", text, got, err)
		}
	}
	for _, text := range []string{"36501d", "876000h1ns", "-1ns", "5215w", "w", "1.5d"} {
		if got, err := parseSpan("--grace", text); models.ErrorCode(err) != models.CodeInvalid {
			t.Errorf("%s: %s, %v", text, got, err)
		}
	}
}
