// Package web serves the pages that people see: what the service is, sign-up, the dashboard, the docs. They are
// rendered on the server (html/template), work without JavaScript, and load nothing from other sites.
package web

import (
	"cmp"
	"errors"
	"html/template"
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

// Deps is what the pages depend on.
type Deps struct {
	Catalog   *catalog.Live
	Store     *store.Store
	Plans     models.Plans
	Quota     *quota.Store     // what an account has used today; nil = requests are not counted
	Counters  quota.Backend    // carries the day's count over to a reopened account; nil = requests are not counted
	Usage     *quota.Usage     // what is counted but not written yet; nil = requests are not counted
	Billing   *billing.Service // nil = nothing is sold
	PayPages  []string         // origins of payment pages that forms may redirect to, besides Stripe's
	Mail      mail.Sender      // nil = no mail is sent: sign-up is off
	Mailbox   *mail.Mailbox    // shown at /dev/mail; nil = none
	Support   string           // email address for questions; "" = none
	Terms     string           // the operator's terms, Markdown; "" = a plain default
	Privacy   string           // the operator's privacy notice, Markdown; "" = a plain default
	PublicURL string           // scheme and host, without a trailing slash: every absolute link begins with it
	Demo      *Demo            // nil = not a demo
	Trusted   []netip.Prefix   // proxies whose X-Forwarded-For is trusted
	Limits    Limits
	Build     models.Build
	Now       func() time.Time // nil = time.Now
	Log       *slog.Logger
	// Patience bounds the time that a page may take, most of it waiting for the database or Stripe; 0 = 20 s.
	Patience time.Duration
}

// Demo is what the demo's pages say about its stand-ins.
type Demo struct {
	StripeURL string // the stand-in for Stripe, with its time machine; "" = none
}

// Limits bounds how many mails with links are sent within an hour.
type Limits struct {
	PerAddress int // to one email address; after that, one more whenever none of those sent still works
	PerClient  int // requested from one network address
}

// Handler serves all pages.
type Handler struct {
	deps       Deps
	pages      map[string]*template.Template // by name
	assets     *assets
	mails      networkThrottle              // mails with links, by client address
	asks       *middleware.Throttle[string] // pages that call Stripe, by account
	keyChanges *middleware.Throttle[string] // by account
	docs       *docs
	memory     atomic.Pointer[memory]
	prices     recent[[]models.KnownPrice]
	feeds      recent[feedTimes]
	secure     bool // the public URL is https
	payPages   []string
}

// New returns an http.Handler for all pages. An error means a mistake in an embedded file, in the operator's Markdown
// or in PublicURL.
func New(deps Deps) (http.Handler, error) {
	if deps.Now == nil {
		deps.Now = time.Now
	}
	if deps.Log == nil {
		deps.Log = slog.New(slog.DiscardHandler)
	}
	if deps.Limits == (Limits{}) {
		deps.Limits = Limits{PerAddress: 5, PerClient: 30} // no stranger can fill a mailbox
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

// handler is a page. It writes the response, or returns an error for fail to write.
type handler func(w http.ResponseWriter, r *http.Request) error

// do adapts f to net/http: it reads the form first, and passes errors to fail.
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

// readForm parses the form of a POST. The only error it returns is that the form is too large: otherwise the page would
// see a form without fields.
func readForm(r *http.Request) error {
	if !strings.HasPrefix(r.Pattern, http.MethodPost) {
		return nil
	}
	err := r.ParseForm()
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return err
	}
	return nil // the page itself reports any other mistake in the form
}

// failure is a page that says what went wrong.
type failure struct {
	Status int
	Title  string
	Text   string
}

// fail writes the page for an error: it tells the visitor what to do, and logs the cause of a 5xx. All handlers' errors
// end up here.
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
			if r.Method == http.MethodPost { // an answer that does not come may be that of a commit
				f.Text = "Part of the service is not responding right now, and what you asked for may have been done or not. Check that first, and then try again in a minute."
			}
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
