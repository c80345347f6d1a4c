package models_test

import (
	"strings"
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
	// https://docs.stripe.com/currencies#zero-decimal, #three-decimal, and #special-cases, which are none
	for currencies, want := range map[string]string{
		"BIF CLP DJF GNF JPY KMF KRW MGA PYG RWF VND VUV XAF XOF XPF": "1230", "BHD JOD KWD OMR TND": "1.230", "HUF ISK TWD UGX USD": "12.30",
	} {
		for currency := range strings.FieldsSeq(currencies) {
			if got := models.MoneyText(1230, currency); got != want+" "+currency {
				t.Errorf("%s, want %s", got, want)
			}
		}
	}
}
