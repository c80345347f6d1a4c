package billing

import (
	"context"
	"crypto/hmac"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/stripe/stripe-go/v76/webhook"

	"lottery/models"
)

const (
	// maxEvent is the most bytes an event's body may have; Stripe's have a few kilobytes.
	maxEvent = 1 << 20
	// tolerance is how old an event's signature may be, or how far in the future.
	tolerance = 300 * time.Second
)

// WebhookPath is where Stripe sends events.
const WebhookPath = "/webhooks/stripe"

// Webhook receives Stripe's events. It never calls Stripe: a genuine event is stored in the inbox before Stripe gets
// its 200, and processed later.
func (s *Service) Webhook() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		if r.Method != http.MethodPost {
			w.Header().Set("Allow", http.MethodPost)
			http.Error(w, "events must be sent by POST", http.StatusMethodNotAllowed)
			return
		}
		status, text := s.receive(w, r)
		http.Error(w, text, status)
	})
}

func (s *Service) receive(w http.ResponseWriter, r *http.Request) (status int, text string) {
	if r.Header.Get(signatureHeader) == "" { // anybody may have sent it: the body is not read
		s.refuse(r.Context(), errUnsigned)
		return http.StatusBadRequest, errUnsigned.Error()
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxEvent))
	if tooLarge, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return http.StatusRequestEntityTooLarge, "an event has at most " + strconv.FormatInt(tooLarge.Limit, 10) + " bytes"
	}
	if err != nil {
		return http.StatusBadRequest, "the event could not be read completely"
	}
	if err := verify(body, r.Header.Get(signatureHeader), s.cfg.WebhookSecrets, s.now()); err != nil {
		s.refuse(r.Context(), err)
		return http.StatusBadRequest, err.Error()
	}
	e, err := parseEvent(body)
	if err != nil {
		return http.StatusBadRequest, err.Error()
	}
	row, otherMode := e.row(), e.Livemode != s.cfg.Live()
	switch {
	case otherMode:
		row.State, row.Outcome = models.EventIgnored, wrongMode(s.cfg.Live())
		s.log.WarnContext(r.Context(), "an event of the other mode was ignored", "event", row.ID, "livemode", e.Livemode)
	case !handled(row.Type):
		row.State, row.Outcome = models.EventIgnored, "events of this type have no effect"
	default:
		row.State = models.EventPending
	}
	asked, cancel := s.store.Bounded(r.Context())
	defer cancel()
	isNew, err := s.store.AddEvent(asked, row)
	if err != nil {
		s.log.ErrorContext(r.Context(), "an event could not be stored; Stripe will send it again", "event", row.ID, "error", err)
		w.Header().Set("Retry-After", "5")
		return http.StatusServiceUnavailable, "the event could not be stored; send it again"
	}
	switch {
	case !isNew: // whoever stored it did the rest
	case otherMode:
		s.flagWrongMode(r, &row)
	case row.State == models.EventPending:
		s.kick()
	}
	return http.StatusOK, "ok"
}

func wrongMode(live bool) string {
	if live {
		return "a test event reached a live server: remove this URL from the webhooks in test mode"
	}
	return "a live event reached a test server: remove this URL from the webhooks in live mode"
}

// flagWrongMode raises a flag on the account that the event names, if it is one of ours.
func (s *Service) flagWrongMode(r *http.Request, e *models.StripeEvent) {
	asked, cancel := s.store.Bounded(r.Context())
	defer cancel()
	accountID, err := s.store.AccountOfCustomer(asked, e.CustomerID)
	if err != nil {
		return // not one of our accounts: the inbox and the log are enough
	}
	if err := s.store.RaiseFlag(asked, flag(accountID, models.FlagWrongMode, e.ID, e.Outcome)); err != nil {
		s.log.ErrorContext(r.Context(), "an account could not be flagged", "account", accountID, "error", err)
	}
}

// signatureHeader is the header that holds an event's signature.
const signatureHeader = "Stripe-Signature"

var errUnsigned = errors.New("the Stripe-Signature header is missing, or has no time and v1 signature")

// tellEvery is how often the log reports what may happen to many events: anybody may send forgeries, and if Stripe is
// away, every event is tried again and again.
const tellEvery = time.Minute

// untold counts what happened since the log last said so.
type untold struct {
	times int
	told  time.Time
}

// untold counts one occurrence of what, and returns how many the log has not told; 0 = it need not do so yet. There must
// be few different ones.
func (s *Service) untold(what string) int {
	s.toldMu.Lock()
	defer s.toldMu.Unlock()
	u, now := s.told[what], s.now()
	u.times++
	if age := now.Sub(u.told); age >= 0 && age < tellEvery { // below 0, the clock was set back
		s.told[what] = u
		return 0
	}
	s.told[what] = untold{told: now}
	return u.times
}

// refuse counts a refusal and logs the count, at most once every tellEvery for each reason. The few reasons are kept
// apart so that strangers cannot drown the one that shows an operator that the secret is wrong.
func (s *Service) refuse(ctx context.Context, reason error) {
	if n := s.untold(reason.Error()); n > 0 {
		s.log.WarnContext(ctx, "events were refused; this is told once a minute", "reason", reason.Error(), "times", n)
	}
}

// verify checks an event's Stripe-Signature header: t=SECONDS,v1=HEX[,v1=HEX…]. One signature must match one of the
// secrets, and its time must be within tolerance of now.
// https://docs.stripe.com/webhooks#verify-manually
func verify(body []byte, header string, secrets []string, now time.Time) error {
	var at int64
	var signatures [][]byte
	for item := range strings.SplitSeq(header, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(item), "=")
		switch name {
		case "t":
			n, err := strconv.ParseInt(value, 10, 64)
			if err != nil || n <= 0 {
				return errors.New("the Stripe-Signature header's time cannot be read")
			}
			at = n
		case "v1":
			if mac, err := hex.DecodeString(value); err == nil {
				signatures = append(signatures, mac)
			}
		}
	}
	if at == 0 || len(signatures) == 0 {
		return errUnsigned
	}
	if age := now.Sub(time.Unix(at, 0)); age > tolerance || age < -tolerance {
		return errors.New("the event's signature is too old, or from the future; is this machine's clock correct?")
	}
	for _, secret := range secrets {
		if secret == "" {
			continue
		}
		want := webhook.ComputeSignature(time.Unix(at, 0), body, secret)
		for _, mac := range signatures {
			if hmac.Equal(mac, want) {
				return nil
			}
		}
	}
	return errors.New("no signature matches; does stripe_webhook_secret belong to this endpoint?")
}
