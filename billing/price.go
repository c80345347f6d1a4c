package billing

import (
	"context"
	"fmt"
	"slices"

	"github.com/stripe/stripe-go/v76"

	"lottery/models"
)

// The prices that give Pro: the one being sold, and those that were sold before.

// registeredKey is the metadata of a price that Setup registered. It holds the price's own id, so that a copy of the
// price does not count as registered. A database restored to a state before that knows from it that the price gives Pro.
const registeredKey = "lottery_price"

func registered(p *stripe.Price) bool { return p.Metadata[registeredKey] == p.ID }

// known is a price of Pro as it is stored.
func known(p *stripe.Price) models.KnownPrice {
	return models.KnownPrice{
		PriceID: p.ID, ProductID: p.Product.ID, Plan: models.PlanPro, UnitAmount: p.UnitAmount, Currency: string(p.Currency), Livemode: p.Livemode,
	}
}

// prices returns the prices that give a plan, by id.
func (s *Service) prices(ctx context.Context) (map[string]models.KnownPrice, error) {
	list, err := s.store.KnownPrices(ctx, s.cfg.Live())
	if err != nil {
		return nil, err
	}
	prices := make(map[string]models.KnownPrice, len(list))
	for _, p := range list {
		prices[p.PriceID] = p
	}
	return prices, nil
}

// learn adds to prices those of a subscription that are registered and not known here.
func (s *Service) learn(ctx context.Context, sub *stripe.Subscription, prices map[string]models.KnownPrice) error {
	if sub.Items == nil {
		return nil
	}
	for _, item := range sub.Items.Data {
		p := item.Price
		if p == nil || !registered(p) || p.Product == nil || unsellable(p) != "" || p.Livemode != s.cfg.Live() {
			continue
		}
		if _, ok := prices[p.ID]; ok {
			continue
		}
		if err := s.store.AddPrice(ctx, known(p)); err != nil {
			return err
		}
		prices[p.ID] = known(p)
		s.log.WarnContext(ctx, "a price that was sold is not in the database, perhaps since that was restored: it is now; `lotteryadmin billing setup` sets what is sold", "price", p.ID)
	}
	return nil
}

// currentPrice returns the price that checkout sells.
func (s *Service) currentPrice(ctx context.Context) (models.KnownPrice, error) {
	list, err := s.store.KnownPrices(ctx, s.cfg.Live())
	if err != nil {
		return models.KnownPrice{}, err
	}
	if i := slices.IndexFunc(list, models.KnownPrice.Sold); i >= 0 {
		return list[i], nil
	}
	return models.KnownPrice{}, models.Errorf(models.CodeConflict, "nothing is for sale yet: run `lotteryadmin billing setup`")
}

func (s *Service) setupPrice(ctx context.Context, out *SetupResult) (SetupStep, error) {
	price, err := s.priceByLookupKey(ctx)
	if err != nil {
		return SetupStep{}, err
	}
	did := "found"
	if price == nil {
		if err := s.soldAnother(ctx); err != nil {
			return SetupStep{}, err
		}
		did = "made"
		price, err = s.api.Prices.New(&stripe.PriceParams{
			Params: params(ctx, newKey("price")), Product: new(productID), UnitAmount: stripe.Int64(models.ProMonthlyCents), Currency: new(models.ProCurrency),
			Recurring: &stripe.PriceRecurringParams{Interval: stripe.String(string(stripe.PriceRecurringIntervalMonth))},
			LookupKey: new(LookupKey), TransferLookupKey: new(true),
		})
		if err != nil {
			return SetupStep{}, explained("create the price", err)
		}
	}
	if why := unsellable(price); why != "" {
		return SetupStep{}, models.Errorf(models.CodeConflict, "price %s cannot be sold: %s; %s", price.ID, why, moveKey)
	}
	out.Price = known(price)
	if price.Livemode != s.cfg.Live() {
		return SetupStep{}, models.Errorf(models.CodeConflict, "price %s is not in the same mode as stripe_secret_key", price.ID)
	}
	if !registered(price) {
		mark := &stripe.PriceParams{Params: params(ctx, newKey("price")), Metadata: map[string]string{registeredKey: price.ID}}
		if _, err = s.api.Prices.Update(price.ID, mark); err != nil {
			return SetupStep{}, explained("mark the price as ours", err)
		}
	}
	return SetupStep{"price", price.ID, did}, s.store.SetPrice(ctx, out.Price)
}

// soldAnother refuses to make a price while one is sold that is not what would be made: its lookup key is gone, or it was
// archived, perhaps by mistake, and from then on the customers would be charged another amount.
func (s *Service) soldAnother(ctx context.Context) error {
	sold, err := s.currentPrice(ctx)
	if models.ErrorCode(err) == models.CodeConflict { // nothing is sold yet
		return nil
	}
	if err != nil || !unusual(sold.UnitAmount, sold.Currency) {
		return err
	}
	return models.Errorf(models.CodeConflict, "price %s (%s a month), which has been sold so far, is archived or no longer has the lookup key %s: "+returnKey,
		sold.PriceID, models.MoneyText(sold.UnitAmount, sold.Currency), LookupKey)
}

// returnKey is what to do about a price that was sold and has lost its lookup key.
const returnKey = "make it active again, or move the key to the monthly price to be sold, in Stripe's dashboard, and run `lotteryadmin billing setup`"

// moveKey is what to do about a price that cannot be sold.
const moveKey = "move the lookup key " + LookupKey + " in Stripe's dashboard to a monthly price (or remove it, if none was sold yet), and run `lotteryadmin billing setup`"

// unsellable says why a price cannot be the monthly price of Pro; "" if it can. Any currency will do.
func unsellable(p *stripe.Price) string {
	switch r := p.Recurring; {
	case r == nil:
		return "it is one-time, not monthly"
	case r.UsageType == stripe.PriceRecurringUsageTypeMetered:
		return "it is usage-based"
	case r.Interval != stripe.PriceRecurringIntervalMonth || r.IntervalCount != 1:
		return fmt.Sprintf("it is charged every %d %s, not every month", r.IntervalCount, r.Interval)
	case p.UnitAmount <= 0:
		return "it has no fixed amount above 0"
	default:
		return ""
	}
}

// unusual reports whether a price differs from the one that Setup would create.
func unusual(cents int64, currency string) bool {
	return cents != models.ProMonthlyCents || currency != models.ProCurrency
}

// priceByLookupKey returns the active price that has our lookup key, or nil.
func (s *Service) priceByLookupKey(ctx context.Context) (*stripe.Price, error) {
	iter := s.api.Prices.List(&stripe.PriceListParams{
		ListParams: listParams(ctx), LookupKeys: stripe.StringSlice([]string{LookupKey}), Active: new(true),
	})
	if iter.Next() {
		return iter.Price(), nil
	}
	return nil, explained("look for the price", iter.Err())
}
