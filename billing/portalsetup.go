package billing

import (
	"context"
	"strings"

	"github.com/stripe/stripe-go/v76"
)

const (
	portalMark   = "lottery_portal" // metadata of our portal configuration
	portalMarked = "1"
)

// portalSetting returns the name of the billing setting that holds the id of the portal configuration.
func (s *Service) portalSetting() string { return s.Mode() + ":portal_configuration" }

func (s *Service) setupPortal(ctx context.Context, _ *SetupResult) (SetupStep, error) {
	found, err := s.portalConfiguration(ctx)
	if err != nil {
		return SetupStep{}, err
	}
	p := &stripe.BillingPortalConfigurationParams{
		Params: params(ctx, newKey("portal-configuration")), BusinessProfile: s.portalProfile(), DefaultReturnURL: new(s.publicURL + dashboardPath),
		Features: promised(),
	}
	did := "found"
	switch {
	case found == nil:
		did, p.Metadata = "made", map[string]string{portalMark: portalMarked}
		p.Features.CustomerUpdate = &stripe.BillingPortalConfigurationFeaturesCustomerUpdateParams{
			Enabled: new(true), AllowedUpdates: stripe.StringSlice([]string{"email", "address", "tax_id", "name"}),
		}
		found, err = s.api.BillingPortalConfigurations.New(p)
		err = explained("create the portal's configuration", err)
	case !s.leadsHere(found) || keepsFrom(found) != "":
		did = "updated"
		_, err = s.api.BillingPortalConfigurations.Update(found.ID, p)
		err = explained("update the portal's configuration", err)
	}
	if err != nil {
		return SetupStep{}, err
	}
	return SetupStep{"portal", found.ID, did}, s.store.SetBillingSetting(ctx, s.portalSetting(), found.ID)
}

// promised returns what our pages promise that customers can do in the portal. The rest is the operator's choice.
func promised() *stripe.BillingPortalConfigurationFeaturesParams {
	return &stripe.BillingPortalConfigurationFeaturesParams{
		InvoiceHistory:      &stripe.BillingPortalConfigurationFeaturesInvoiceHistoryParams{Enabled: new(true)},
		PaymentMethodUpdate: &stripe.BillingPortalConfigurationFeaturesPaymentMethodUpdateParams{Enabled: new(true)},
		SubscriptionCancel: &stripe.BillingPortalConfigurationFeaturesSubscriptionCancelParams{
			Enabled: new(true), Mode: new(string(stripe.BillingPortalConfigurationFeaturesSubscriptionCancelModeAtPeriodEnd)),
		},
	}
}

// keepsFrom returns what is promised and cannot be done with configuration c, or "".
func keepsFrom(c *stripe.BillingPortalConfiguration) string {
	f := c.Features
	switch {
	case f == nil || f.SubscriptionCancel == nil || !f.SubscriptionCancel.Enabled:
		return "customers cannot cancel there"
	case f.SubscriptionCancel.Mode != stripe.BillingPortalConfigurationFeaturesSubscriptionCancelModeAtPeriodEnd:
		return "customers who cancel there lose what they have paid for"
	case f.PaymentMethodUpdate == nil || !f.PaymentMethodUpdate.Enabled:
		return "customers cannot change their card there"
	case f.InvoiceHistory == nil || !f.InvoiceHistory.Enabled:
		return "customers cannot see their invoices there"
	}
	return ""
}

// portalConfiguration returns the active configuration that Setup made, or nil.
func (s *Service) portalConfiguration(ctx context.Context) (*stripe.BillingPortalConfiguration, error) {
	iter := s.api.BillingPortalConfigurations.List(&stripe.BillingPortalConfigurationListParams{ListParams: listParams(ctx), Active: new(true)})
	for iter.Next() {
		if c := iter.BillingPortalConfiguration(); c.Metadata[portalMark] == portalMarked {
			return c, nil
		}
	}
	return nil, explained("look for the portal's configuration", iter.Err())
}

// portalProfile returns what the portal shows about us.
func (s *Service) portalProfile() *stripe.BillingPortalConfigurationBusinessProfileParams {
	return &stripe.BillingPortalConfigurationBusinessProfileParams{
		Headline: new(productName), PrivacyPolicyURL: new(s.publicURL + "/privacy"), TermsOfServiceURL: new(s.publicURL + "/terms"),
	}
}

// leadsHere reports whether a configuration's URLs are those of this service, which may have moved.
func (s *Service) leadsHere(c *stripe.BillingPortalConfiguration) bool {
	p, want := c.BusinessProfile, s.portalProfile()
	return c.DefaultReturnURL == s.publicURL+dashboardPath && p != nil &&
		p.PrivacyPolicyURL == *want.PrivacyPolicyURL && p.TermsOfServiceURL == *want.TermsOfServiceURL
}

// checkPortal checks that customers can reach the portal, where they cancel, and come back from it.
func (s *Service) checkPortal(ctx context.Context) Check {
	const remedy = "run `lotteryadmin billing setup`"
	id, err := s.store.BillingSetting(ctx, s.portalSetting())
	if err != nil {
		return unchecked(err)
	}
	if id == "" {
		return wrong("none", remedy)
	}
	c, err := s.api.BillingPortalConfigurations.Get(id, &stripe.BillingPortalConfigurationParams{Params: params(ctx, "")})
	switch {
	case err != nil && !missing(err):
		return unchecked(explained("look for the portal's configuration", err))
	case err != nil || !c.Active:
		return wrong(id+" is not active at Stripe: customers cannot change their card, nor cancel", remedy)
	case !s.leadsHere(c):
		return wrong(id+" leads to another address than "+s.publicURL, remedy)
	default:
		keeps := keepsFrom(c)
		return judged(keeps == "", strings.TrimSuffix(id+": "+keeps, ": "), remedy)
	}
}
