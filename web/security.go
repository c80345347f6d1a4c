package web

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// stripePages are the origins of Stripe's hosted pages, to which the checkout and portal forms redirect.
var stripePages = []string{"https://checkout.stripe.com", "https://billing.stripe.com"}

// toStripe sends the visitor from a form to one of Stripe's pages. Browsers follow a form's redirect only to origins
// that the content policy allows. For any other, such as a custom domain set up at Stripe, it shows a page with a link.
func (h *Handler) toStripe(w http.ResponseWriter, r *http.Request, address string) error {
	u, err := url.Parse(address)
	if err != nil {
		return fmt.Errorf("the address of Stripe's page: %w", err)
	}
	if slices.Contains(h.payPages, u.Scheme+"://"+u.Host) {
		return seeOther(w, r, address)
	}
	h.show(w, r, view{Page: "message", Title: "Continue to Stripe", Private: true, Data: message{
		"Stripe handles payments, cards and receipts for us. Its pages are at " + u.Host + ".", address, "Continue to " + u.Host,
	}})
	return nil
}

// contentPolicy returns a Content-Security-Policy that allows only what this server serves: no inline scripts or
// styles.
func contentPolicy(payPages []string) string {
	return strings.Join([]string{
		"default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self'", "font-src 'self'", "connect-src 'self'",
		"manifest-src 'self'", "base-uri 'none'", "frame-ancestors 'none'",
		"form-action 'self' " + strings.Join(payPages, " "), // browsers apply this to a form's redirects, too
	}, "; ")
}

// secured adds the security headers to every page, and refuses forms that come from other sites.
func (h *Handler) secured(next http.Handler) (http.Handler, error) {
	policy := contentPolicy(h.payPages)
	forms := http.NewCrossOriginProtection()
	if err := forms.AddTrustedOrigin(h.deps.PublicURL); err != nil { // a proxy may have changed the Host header
		return nil, err
	}
	forms.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.failPage(w, r, failure{
			http.StatusForbidden, "This form came from another site",
			"For your safety, it was not processed. Open the page on this site and try again. If you did come from this site, your browser is hiding that.",
		})
	}))
	protected := forms.Handler(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header := w.Header()
		header.Set("Content-Security-Policy", policy)
		header.Set("X-Content-Type-Options", "nosniff")
		header.Set("X-Frame-Options", "DENY")
		header.Set("Referrer-Policy", "same-origin")
		header.Set("Cross-Origin-Opener-Policy", "same-origin")
		header.Set("Cross-Origin-Resource-Policy", "same-origin")
		header.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=(), payment=(), usb=()")
		if h.secure {
			header.Set("Strict-Transport-Security", "max-age=31536000") // no includeSubDomains: those are up to the operator
		}
		r.Body = http.MaxBytesReader(w, r.Body, maxForm)
		protected.ServeHTTP(w, r)
	}), nil
}

// maxForm bounds the body of a form, in bytes: ours have a few short fields.
const maxForm = 16 << 10
