package models_test

import (
	"testing"

	"lottery/models"
)

func TestMoneyText(t *testing.T) {
	t.Parallel()
	for want, in := range map[string]struct {
		units    int64
		currency string
	}{
		"9.99 USD": {999, "usd"}, "0.05 EUR": {5, "eur"}, "12.00 CHF": {1200, "CHF"}, "1500 JPY": {1500, "jpy"}, "1.250 KWD": {1250, "kwd"},
	} {
		if got := models.MoneyText(in.units, in.currency); got != want {
			t.Errorf("%d %s: %s, want %s", in.units, in.currency, got, want)
		}
	}
}
