package models

import (
	"fmt"
	"strings"
)

// moneyDecimals lists the currencies whose amounts Stripe does not count in hundredths.
// https://docs.stripe.com/currencies#zero-decimal
var moneyDecimals = map[string]int{
	"BIF": 0, "CLP": 0, "DJF": 0, "GNF": 0, "JPY": 0, "KMF": 0, "KRW": 0, "MGA": 0, "PYG": 0, "RWF": 0, "VND": 0, "VUV": 0,
	"XAF": 0, "XOF": 0, "XPF": 0,
	"BHD": 3, "JOD": 3, "KWD": 3, "OMR": 3, "TND": 3,
}

// MoneyText formats an amount for people, such as 9.99 USD; units are the currency's smallest, as Stripe counts them.
func MoneyText(units int64, currency string) string {
	currency = strings.ToUpper(currency)
	decimals, odd := moneyDecimals[currency]
	if !odd {
		decimals = 2
	}
	unit := int64(1)
	for range decimals {
		unit *= 10
	}
	if decimals == 0 {
		return fmt.Sprintf("%d %s", units, currency)
	}
	return fmt.Sprintf("%d.%0*d %s", units/unit, decimals, units%unit, currency)
}
