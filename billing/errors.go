package billing

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"github.com/stripe/stripe-go/v76"

	"lottery/models"
)

// explained turns an error from Stripe into one that a person can act on, without Stripe's or the SDK's internals.
func explained(doing string, err error) error {
	if err == nil || models.ErrorCode(err) != "" {
		return err
	}
	if odd, ok := errors.AsType[strange](err); ok {
		return models.Errorf(models.CodeUnavailable, "%s: %s; try again, and if it keeps happening, check what is between this machine and Stripe", doing, odd)
	}
	e, ok := errors.AsType[*stripe.Error](err)
	if _, sent := errors.AsType[*url.Error](err); !ok && !sent && !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) {
		// The SDK's own message quotes part of the response.
		return models.Errorf(models.CodeUnavailable, "%s: Stripe's response cannot be read; try again", doing)
	}
	if _, refused := errors.AsType[*tls.CertificateVerificationError](err); refused {
		return &models.Error{Code: models.CodeUnavailable, Message: doing + ": Stripe's certificate is not accepted; check this machine's clock and its root certificates, " +
			"and what is between it and Stripe", Err: withoutKey(err)}
	}
	if !ok {
		return &models.Error{Code: models.CodeUnavailable, Message: doing + ": Stripe does not respond; try again", Err: withoutKey(err)}
	}
	switch {
	case e.HTTPStatusCode == http.StatusUnauthorized:
		return models.Errorf(models.CodeUnavailable, "%s: Stripe refuses the secret key; check stripe_secret_key (`lotteryadmin billing doctor`)", doing)
	case e.HTTPStatusCode == http.StatusForbidden:
		return &models.Error{Code: models.CodeUnavailable, Message: doing + ": the secret key may not do this; a restricted key needs more rights", Err: forbidden(e.Msg)}
	case e.HTTPStatusCode == http.StatusTooManyRequests || e.HTTPStatusCode == http.StatusConflict || e.HTTPStatusCode >= http.StatusInternalServerError:
		return &models.Error{Code: models.CodeUnavailable, Message: fmt.Sprintf("%s: Stripe answers %d; try again", doing, e.HTTPStatusCode)}
	case missing(err):
		return models.Errorf(models.CodeUnavailable, "%s: Stripe does not know it (%s): does stripe_secret_key belong to another Stripe account, or to the other mode?", doing, e.Msg)
	default:
		code := strings.TrimSpace(fmt.Sprintf("%d %s", e.HTTPStatusCode, e.Code)) // some have none
		return fmt.Errorf("%s: Stripe answers %s: %s", doing, code, e.Msg)
	}
}

// forbidden is Stripe's message that a restricted key lacks a right.
type forbidden string

func (f forbidden) Error() string { return string(f) }

// missing reports whether Stripe says that the object does not exist.
func missing(err error) bool {
	e, ok := errors.AsType[*stripe.Error](err)
	return ok && (e.HTTPStatusCode == http.StatusNotFound || e.Code == stripe.ErrorCodeResourceMissing)
}

// quoted matches a quotation in an error message, as %q writes it.
var quoted = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)

// withoutKey reduces an error to its innermost cause, without quotations: the SDK's errors may contain the request, and
// those of net/http part of a response that is not HTTP.
func withoutKey(err error) error {
	for inner := err; inner != nil; inner = errors.Unwrap(inner) {
		err = inner
	}
	if words := err.Error(); quoted.MatchString(words) {
		return errors.New(quoted.ReplaceAllString(words, `"…"`))
	}
	return err
}
