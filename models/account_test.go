package models_test

import (
	"strings"
	"testing"

	"lottery/models"
)

func TestParseEmail(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"ann@example.com": "ann@example.com", " Ann.O'Hara+x@Example.COM\n": "ann.o'hara+x@example.com", "jürgen@müller.example": "jürgen@müller.example",
		"": "", "ann": "", "ann@example": "", "Ann <ann@example.com>": "", "a nn@example.com": "", "ann@exa\u202Emple.com": "", "an\u200bn@example.com": "", "ann@example.com\x00": "",
		"ABCDEFGHIJKLMNOPQRSTUVWXYZ[@example.com": "", "ABCDEFGHIJKLMNOPQRSTUVWXYZ@example.com": "abcdefghijklmnopqrstuvwxyz@example.com",
		strings.Repeat("a", 64) + "@b.c": strings.Repeat("a", 64) + "@b.c", strings.Repeat("a", 65) + "@b.c": "", "an\xffn@example.com": "",
		"a@" + strings.Repeat("b", 250) + ".c": "a@" + strings.Repeat("b", 250) + ".c", "a@" + strings.Repeat("b", 251) + ".c": "",
		"Your\u3164access\u3164ends@example.com": "", "an\u115fn@example.com": "", "ann\ufe0f@example.com": "",
		"ann@[127.0.0.1]": "", "ann@[IPv6:::1]": "", "ann@[IPv6:::ffff:127.0.0.1]": "", "ann@127.0.0.1": "", "ann@127.1": "", "ann@127.0.0.0x1": "", "ann@localhost": "",
		"ann@example..com": "", "ann@.com": "", "ann@example.com.": "", "ann@4.example.com": "ann@4.example.com", "ann@3com.com": "ann@3com.com", "ann@x.1example": "",
	} {
		email, key, err := models.ParseEmail(address)
		if key != want || (err == nil) != (want != "") || (err == nil && email != strings.TrimSpace(address)) {
			t.Errorf("%q: %q %q %v", address, email, key, err)
		}
	}
}

// A grant overrides what is paid for, and an account's own limit the plan's, even if it allows no requests.
func TestPlanAndLimit(t *testing.T) {
	t.Parallel()
	free, pro := models.PlanFree, models.PlanPro
	for name, c := range map[string]struct {
		account models.Account
		plan    models.Plan
		source  models.PlanSource
		limit   int
	}{
		"nothing said":       {models.Account{}, free, models.SourceDefault, 100},
		"paid for":           {models.Account{BilledPlan: &pro}, pro, models.SourceBilling, 10_000},
		"granted":            {models.Account{GrantedPlan: &pro}, pro, models.SourceOperator, 10_000},
		"granted and paid":   {models.Account{GrantedPlan: &free, BilledPlan: &pro}, free, models.SourceOperator, 100},
		"a limit of its own": {models.Account{BilledPlan: &pro, LimitOverride: new(7)}, pro, models.SourceBilling, 7},
		"no requests":        {models.Account{LimitOverride: new(0)}, free, models.SourceDefault, 0},
	} {
		if plan, source := c.account.Plan(); plan != c.plan || source != c.source {
			t.Errorf("%s: %s from %s", name, plan, source)
		}
		if got := c.account.DailyLimit(models.DefaultPlans()); got != c.limit {
			t.Errorf("%s: %d requests a day, want %d", name, got, c.limit)
		}
	}
}
