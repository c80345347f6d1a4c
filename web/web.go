// Package web serves the pages for people: what the service is, sign-up, the dashboard, the docs. Pages are rendered on
// the server (html/template), work without JavaScript, and load nothing from elsewhere.
package web

import (
	"cmp"
	"errors"
	"log/slog"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"lottery/api/middleware"
	"lottery/api/quota"
	"lottery/billing"
	"lottery/models"
	"lottery/models/catalog"
	"lottery/models/secret"
	"lottery/models/store"
	"lottery/web/mail"
)

// Deps is what the pages need.
type Deps struct {
	Catalog   *catalog.Live
	Store     *store.Store
	Plans     models.Plans
	Quota     *quota.Store     // what an account has used today; nil = not counted
	Ledger    quota.Ledger     // carries the day's count over to an account opened again; nil = not counted
	Usage     *quota.Usage     // what is counted but not stored yet; nil = not counted
	Billing   *billing.Service // nil = nothing is sold
	PayPages  []string         // origins of payment pages that forms may be redirected to, beside Stripe's
	Mail      mail.Sender      // nil = no mail is sent: sign-up is off
	Mailbox   *mail.Mailbox    // shown at /dev/mail; nil = none
	Support   string           // e-mail address for questions; "" = none
	Terms     string           // the operator's terms, Markdown; "" = a plain default
	Privacy   string           // the operator's privacy notice, Markdown; "" = a plain default
	PublicURL string           // scheme and host, without a trailing slash: every absolute link begins with it
	Demo      *Demo            // nil = not the demo
	Trusted   []netip.Prefix   // proxies whose X-Forwarded-For is believed
	Limits    Limits
	Build     models.Build
	Now       func() time.Time // nil = time.Now
	Log       *slog.Logger
	// Patience is how long a page may take, most of it waiting for the database or for Stripe; 0 = 20 s.
	Patience time.Duration
}

// Demo is what the demo's pages say about their stand-ins.
type Demo struct {
	StripeURL string // the stand-in for Stripe, with its time machine; "" = none
}

// Limits is how many sign-in mails are sent.
type Limits struct {
	PerAddress int // to one e-mail address per hour; beyond that, one if no earlier link works any more
	PerClient  int // requested by one network address per hour
}

// defaultLimits keeps a stranger from filling a mailbox.
func defaultLimits() Limits { return Limits{PerAddress: 5, PerClient: 30} }

// Handler serves every page.
type Handler struct {
	deps       Deps
	pages      *pages
	assets     *assets
	mails      networkThrottle   // requested by one network
	asks       *throttle[string] // queries to Stripe, by account
	keyChanges *throttle[string] // by account
	docs       *docs
	memory     atomic.Pointer[memory]
	prices     prices
	secure     bool // the public URL is https
	payPages   []string
}

// New returns all pages as one http.Handler. An error means a mistake in an embedded file, or in the operator's
// Markdown.
func New(deps Deps) (http.Handler, error) {
	if deps.Now == nil {
		deps.Now = time.Now
	}
	if deps.Log == nil {
		deps.Log = slog.New(slog.DiscardHandler)
	}
	if deps.Limits == (Limits{}) {
		deps.Limits = defaultLimits()
	}
	deps.Patience = cmp.Or(deps.Patience, 20*time.Second)
	h := &Handler{deps: deps, secure: strings.HasPrefix(deps.PublicURL, "https://"), payPages: slices.Concat(stripePages, deps.PayPages)}
	var err error
	if h.assets, err = loadAssets(); err != nil {
		return nil, err
	}
	if h.pages, err = loadPages(h.assets); err != nil {
		return nil, err
	}
	if h.docs, err = loadDocs(&h.deps); err != nil {
		return nil, err
	}
	deps.Catalog.OnSwap(h.forget)
	h.mails, h.asks = newNetworkThrottle(deps.Limits.PerClient, time.Hour), newThrottle[string](stripeAsks, time.Minute)
	h.keyChanges = newThrottle[string](keyChanges, time.Hour)
	return h.routes()
}

// handler is a page: it writes its response, or returns what went wrong, which one place writes (fail).
type handler func(w http.ResponseWriter, r *http.Request) error

// do adapts a handler to net/http.
func (h *Handler) do(f handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		err := readForm(r)
		if err == nil {
			err = f(w, r)
		}
		if err != nil {
			h.fail(w, r, err)
		}
	}
}

// readForm parses a page's form. The only error is a form that is too large, of which no field would be left.
func readForm(r *http.Request) error {
	if !strings.HasPrefix(r.Pattern, http.MethodPost) {
		return nil
	}
	err := r.ParseForm()
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return err
	}
	return nil // the page itself reports anything else
}

// failure is a page that says what went wrong.
type failure struct {
	Status int
	Title  string
	Text   string
}

// fail writes an error: people read what to do, the log gets the cause. Nothing else writes errors.
func (h *Handler) fail(w http.ResponseWriter, r *http.Request, err error) {
	f := failure{http.StatusInternalServerError, "Something went wrong here", "The error was logged. Try again in a moment; if it keeps happening, contact support."}
	if e, ok := errors.AsType[*models.Error](err); ok {
		switch e.Code {
		case models.CodeInvalid:
			f = failure{http.StatusBadRequest, "That did not work", sentence(e.Message)}
		case models.CodeNotFound:
			f = notFound
		case models.CodeConflict:
			f = failure{http.StatusConflict, "That is not possible right now", sentence(e.Message)}
		case models.CodeUnavailable:
			f = failure{http.StatusServiceUnavailable, "One moment, please", "Part of the service is not responding right now. Nothing was changed or lost; try again in a minute."}
		}
	}
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		f = failure{http.StatusRequestEntityTooLarge, "The form is too large", "It is larger than 16 KiB. Nothing was changed; go back and shorten what you typed."}
	}
	if f.Status >= http.StatusInternalServerError {
		level, what := slog.LevelError, "page failed"
		if middleware.HungUp(r, err) {
			level, what = slog.LevelInfo, "a page was not waited for"
		}
		h.deps.Log.Log(r.Context(), level, what, "method", r.Method, "path", secret.Redacted(r.URL.Path), "error", err)
		w.Header().Set("Retry-After", "5")
	}
	h.failPage(w, r, f)
}

func (h *Handler) failPage(w http.ResponseWriter, r *http.Request, f failure) {
	h.show(w, r, view{Page: "error", Title: f.Title, Status: f.Status, Private: true, Data: f})
}

var notFound = failure{http.StatusNotFound, "There is nothing here", "The address may be mistyped, or the page has moved."}

func errNotFound() error { return models.Errorf(models.CodeNotFound, "no such page") }
