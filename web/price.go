package web

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"lottery/models"
)

// knownPrices returns the prices that `billing setup` has stored, in live mode and then in test mode, the older first in
// each. While the database is down, these are the last that were read.
func (h *Handler) knownPrices(ctx context.Context) []models.KnownPrice {
	list, _ := h.prices.get(h.deps.Now, func(before []models.KnownPrice) (list []models.KnownPrice) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second) // others may wait for it, too
		defer cancel()
		for _, live := range []bool{true, false} {
			some, err := h.deps.Store.KnownPrices(ctx, live)
			if err != nil {
				h.deps.Log.WarnContext(ctx, "the price of Pro cannot be read now; pages show the last one that was, if any", "error", err)
				return before
			}
			list = append(list, some...)
		}
		return list
	})
	return list
}

// proPrice returns the monthly price of Pro as text.
func (h *Handler) proPrice(ctx context.Context) string {
	p := h.soldPrice(ctx)
	return priceText(&p)
}

// soldPrice returns the price that checkout sells, or the default that set-up would create. Without a Stripe key the
// mode is unknown: then the current price of live mode comes before that of test mode.
func (h *Handler) soldPrice(ctx context.Context) models.KnownPrice {
	for _, p := range h.knownPrices(ctx) {
		if p.Sold() && (h.deps.Billing == nil || p.Livemode == (h.deps.Billing.Mode() == "live")) {
			return p
		}
	}
	return models.KnownPrice{UnitAmount: models.ProMonthlyCents, Currency: models.ProCurrency}
}

// nothing returns the price of Free in the currency of another price: $0, or 0 EUR.
func nothing(beside *models.KnownPrice) string {
	if currency := strings.ToUpper(beside.Currency); currency != "USD" {
		return "0 " + currency
	}
	return "$0"
}

// proOffer says what Pro costs here, or that it is not for sale.
func (h *Handler) proOffer(ctx context.Context) string {
	if h.deps.Billing == nil {
		return "not for sale here at the moment"
	}
	return h.proPrice(ctx) + " a month"
}

// paidPrice says what an account's subscription charges a month; "" if unknown.
func (h *Handler) paidPrice(ctx context.Context, b *models.BillingAccount) string {
	if b.PriceID == nil {
		return ""
	}
	list := h.knownPrices(ctx)
	i := slices.IndexFunc(list, func(p models.KnownPrice) bool { return p.PriceID == *b.PriceID })
	if i < 0 {
		return ""
	}
	price := list[i]
	if b.Quantity == nil || *b.Quantity == 1 {
		return priceText(&price) + " a month"
	}
	one := priceText(&price)
	price.UnitAmount *= *b.Quantity
	return fmt.Sprintf("%s a month (%d × %s)", priceText(&price), *b.Quantity, one)
}

// priceText formats a price: $9.99, or 9.99 EUR.
func priceText(p *models.KnownPrice) string {
	amount := models.MoneyText(p.UnitAmount, p.Currency)
	if dollars, ok := strings.CutSuffix(amount, " USD"); ok {
		return "$" + dollars
	}
	return amount
}
