package billing_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"lottery/billing"
	"lottery/billing/sandbox"
	"lottery/billing/sandbox/sandboxtest"
	"lottery/configs"
	"lottery/models"
	"lottery/models/store"
	"lottery/models/store/storetest"
)

func TestMain(m *testing.M) { storetest.Main(m) }

// world is billing as it runs: a database, Stripe's stand-in, the webhook's URL, a worker.
type world struct {
	t       *testing.T
	stripe  *sandbox.Sandbox
	api     *httptest.Server // Stripe's address
	hook    *httptest.Server // ours
	handler atomic.Pointer[http.Handler]
	store   *store.Store
	billing *billing.Service
	cfg     configs.Stripe
	secret  string
	stop    context.CancelFunc // the worker's
	stopped chan struct{}
	account models.Account // one on Free
	price   string
	n       int
	address string       // the database's
	offset  atomic.Int64 // of the database's clock, in nanoseconds
}

// each runs a test in a new world on each database.
func each(t *testing.T, test func(w *world)) {
	t.Parallel()
	storetest.EachURL(t, func(t *testing.T, database string) {
		t.Parallel()
		w := newWorld(t, database)
		test(w)
	})
}

func newWorld(t *testing.T, database string) *world {
	t.Helper()
	w := &world{t: t, address: database}
	var apiHandler atomic.Pointer[sandbox.Sandbox]
	w.api = httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) { apiHandler.Load().ServeHTTP(rw, r) }))
	w.hook = httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if h := w.handler.Load(); h != nil {
			(*h).ServeHTTP(rw, r)
			return
		}
		rw.WriteHeader(http.StatusBadGateway)
	}))
	var err error
	if w.stripe, err = sandbox.New(sandbox.Options{URL: w.api.URL}); err != nil {
		t.Fatal(err)
	}
	apiHandler.Store(w.stripe)
	w.store = storetest.OpenURL(t, database, store.Options{
		Now: func() time.Time { return time.Now().Add(time.Duration(w.offset.Load())) }, Skew: func() time.Duration { return time.Duration(w.offset.Load()) },
	})
	w.cfg = configs.Stripe{SecretKey: sandbox.DefaultKey, APIURL: w.api.URL, Grace: 7 * 24 * time.Hour}
	w.billing = w.service()
	setup, err := w.billing.Setup(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	w.secret = setup.WebhookSecret
	w.price = setup.Steps[1].ID
	w.cfg.WebhookSecrets = []string{w.secret}
	w.account = w.newAccount()
	w.start()
	t.Cleanup(func() {
		w.kill()
		w.stripe.ClearFaults()
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		_ = w.stripe.Close(ctx)
		w.hook.Close()
		w.api.CloseClientConnections()
		w.api.Close()
	})
	return w
}

func (w *world) service() *billing.Service {
	return billing.New(billing.Options{
		Store: w.store, Stripe: w.cfg, PublicURL: w.hook.URL, StripeNow: w.stripe.Now, Pace: time.Nanosecond, Log: slog.New(slog.DiscardHandler),
	})
}

// start runs billing's part of a server: the webhook and the worker.
func (w *world) start() {
	w.billing = w.service()
	hook := w.billing.Webhook()
	w.handler.Store(&hook)
	ctx, stop := context.WithCancel(context.Background())
	w.stop, w.stopped = stop, make(chan struct{})
	go func(s *billing.Service, done chan struct{}) {
		defer close(done)
		s.Run(ctx)
	}(w.billing, w.stopped)
}

// kill stops what start started.
func (w *world) kill() {
	if w.stop != nil {
		w.stop()
		<-w.stopped
		w.stop = nil
	}
	w.handler.Store(nil)
}

func (w *world) newAccount() models.Account {
	w.t.Helper()
	w.n++
	a, err := w.store.CreateAccount(w.t.Context(), store.NewAccount{Email: fmt.Sprintf("a%d@example.com", w.n)})
	w.must(err)
	return a
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// settle waits until all webhooks have been sent and processed, as long as they become fewer.
func (w *world) settle() {
	w.t.Helper()
	const patience = 30 * time.Second
	ctx, cancel := context.WithTimeout(w.t.Context(), patience)
	defer cancel()
	w.must(w.stripe.Quiesce(ctx))
	for before, since := int64(-1), time.Now(); time.Since(since) < patience; time.Sleep(5 * time.Millisecond) {
		q, err := w.store.InboxState(w.t.Context())
		w.must(err)
		if q.Waiting == 0 {
			return
		}
		if q.Waiting != before {
			before, since = q.Waiting, time.Now()
		}
	}
	events, _ := w.store.Events(context.Background(), store.EventFilter{State: models.EventPending})
	w.t.Fatalf("%d events wait, such as %+v", len(events), events[0])
}

// checkout opens a session and returns its id.
func (w *world) checkout() string {
	w.t.Helper()
	s, err := w.billing.Checkout(w.t.Context(), w.account.ID)
	w.must(err)
	return s.ID
}

// buy goes through checkout with a card, and returns the session.
func (w *world) buy(card sandbox.Card) string {
	w.t.Helper()
	id := w.checkout()
	_, _, err := w.stripe.Pay(id, card)
	w.must(err)
	return id
}

// paysClosed pays in a checkout after the account has been closed, which no event tells.
func (w *world) paysClosed() {
	w.t.Helper()
	session := w.checkout()
	_, err := w.store.DeleteAccount(w.t.Context(), w.account.ID)
	w.must(err)
	w.stripe.FaultDelivery(sandbox.DeliveryFault{Action: sandbox.Drop})
	_, _, err = w.stripe.Pay(session, sandbox.CardOK)
	w.must(err)
}

// pro returns an account that has paid.
func (w *world) pro() (subscription string) {
	w.t.Helper()
	w.buy(sandbox.CardOK)
	w.settle()
	w.wantPlan(models.PlanPro)
	return w.onlySubscription()
}

func (w *world) customer() string {
	w.t.Helper()
	b, err := w.store.BillingAccount(w.t.Context(), w.account.ID)
	w.must(err)
	if b.CustomerID == nil {
		w.t.Fatal("the account has no customer")
	}
	return *b.CustomerID
}

func (w *world) onlySubscription() string {
	w.t.Helper()
	subs := w.stripe.Subscriptions(w.customer())
	if len(subs) != 1 {
		w.t.Fatalf("%d subscriptions: %+v", len(subs), subs)
	}
	return subs[0].ID
}

func (w *world) plan() models.Plan {
	w.t.Helper()
	a, err := w.store.Account(w.t.Context(), w.account.ID)
	w.must(err)
	plan, _ := a.Plan()
	return plan
}

func (w *world) wantPlan(want models.Plan) {
	w.t.Helper()
	if got := w.plan(); got != want {
		w.t.Fatalf("the account is on %s, want %s; Stripe: %+v", got, want, w.stripe.Subscriptions(""))
	}
}

// wantAfterSync is wantPlan after a sync.
func (w *world) wantAfterSync(want models.Plan) {
	w.t.Helper()
	_, err := w.billing.Sync(w.t.Context(), w.account.ID, cause())
	w.must(err)
	w.wantPlan(want)
}

func (w *world) flags() (kinds []models.FlagKind) {
	w.t.Helper()
	list, err := w.store.Flags(w.t.Context(), w.account.ID)
	w.must(err)
	for _, f := range list {
		kinds = append(kinds, f.Kind)
	}
	return kinds
}

func (w *world) wantFlags(want ...models.FlagKind) {
	w.t.Helper()
	if got := w.flags(); fmt.Sprint(got) != fmt.Sprint(want) {
		w.t.Fatalf("flags %v, want %v", got, want)
	}
}

func (w *world) wantMails(want ...models.MailKind) {
	w.t.Helper()
	list, err := w.store.MailsNewest(w.t.Context(), store.MailFilter{AccountID: w.account.ID})
	w.must(err)
	var got []models.MailKind
	for _, m := range slices.Backward(list) {
		got = append(got, m.Kind)
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		w.t.Fatalf("mails %v, want %v", got, want)
	}
}

func (w *world) events() []models.StripeEvent {
	w.t.Helper()
	list, err := w.store.Events(w.t.Context(), store.EventFilter{})
	w.must(err)
	return list
}

// foreignCustomer returns a customer that somebody else made at Stripe.
func (w *world) foreignCustomer(metadata map[string]string) string {
	w.t.Helper()
	form := url.Values{"email": {"elsewhere@example.com"}}
	for name, value := range metadata {
		form.Set("metadata["+name+"]", value)
	}
	var made struct{ ID string }
	w.ask(http.MethodPost, "/v1/customers", form, &made)
	return made.ID
}

// otherPrice returns a price of another product, or of ours.
func (w *world) otherPrice(product string) string {
	w.t.Helper()
	if product == "" {
		var made struct{ ID string }
		w.ask(http.MethodPost, "/v1/products", url.Values{"name": {"Socks"}}, &made)
		product = made.ID
	}
	var price struct{ ID string }
	w.ask(http.MethodPost, "/v1/prices", url.Values{"product": {product}, "unit_amount": {"500"}, "currency": {"usd"}, "recurring[interval]": {"month"}}, &price)
	return price.ID
}

// ask calls Stripe as its dashboard does.
func (w *world) ask(method, path string, form url.Values, into any) {
	w.t.Helper()
	w.must(sandboxtest.Ask(w.t.Context(), http.DefaultTransport, method, w.api.URL+path, form, into))
}

// event returns the newest event of a type that Stripe made.
func (w *world) event(kind string) string {
	w.t.Helper()
	id := ""
	for _, e := range w.stripe.Events() {
		if e.Type == kind {
			id = e.ID
		}
	}
	if id == "" {
		w.t.Fatalf("there is no event %s", kind)
	}
	return id
}

// body returns a hand-made event.
func body(id, kind, object string) string {
	return fmt.Sprintf(`{"id":%q,"object":"event","type":%q,"livemode":false,"api_version":"2023-10-16","created":%d,"data":{"object":%s}}`,
		id, kind, time.Now().Unix(), object)
}

// post sends a body as Stripe would, signed at a time with secrets, and returns the status.
func (w *world) post(text string, at time.Time, secrets ...string) int {
	w.t.Helper()
	return w.send(text, sandbox.Sign([]byte(text), at, secrets...))
}

func (w *world) send(text, signature string) int {
	w.t.Helper()
	r, err := http.NewRequestWithContext(w.t.Context(), http.MethodPost, w.hook.URL+billing.WebhookPath, strings.NewReader(text))
	w.must(err)
	if signature != "" {
		r.Header.Set("Stripe-Signature", signature)
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		w.t.Errorf("post: %v", err)
		return 0
	}
	defer res.Body.Close()
	_, _ = io.Copy(io.Discard, res.Body)
	return res.StatusCode
}
