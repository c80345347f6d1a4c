package web_test

import (
	"context"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"lottery/models"
	"lottery/models/catalog"
	"lottery/models/store"
	"lottery/models/store/storetest"
	"lottery/web"
	"lottery/web/mail"
)

func TestMain(m *testing.M) { storetest.Main(m) }

// clock is a clock that tests can move forward.
type clock struct{ ahead atomic.Int64 }

func (c *clock) now() time.Time       { return time.Now().Add(c.skew()) }
func (c *clock) skew() time.Duration  { return time.Duration(c.ahead.Load()) }
func (c *clock) move(d time.Duration) { c.ahead.Add(int64(d)) }

// house serves the pages with a real database and a mailbox.
type house struct {
	t     *testing.T
	clock *clock
	store *store.Store
	box   *mail.Mailbox
	base  string
	pages http.Handler // as served at base, without the network
	live  *catalog.Live
}

// open serves the pages; change, if not nil, may modify what they depend on.
func open(t *testing.T, change func(*web.Deps)) *house {
	t.Helper()
	c := &clock{}
	h := &house{t: t, clock: c, store: storetest.OpenURL(t, storetest.URL(t), store.Options{Now: c.now}), box: &mail.Mailbox{}}
	server := httptest.NewUnstartedServer(nil)
	h.base = "http://" + server.Listener.Addr().String()
	deps := web.Deps{
		Catalog: &catalog.Live{}, Store: h.store, Plans: models.DefaultPlans(), Counters: h.store, Mail: h.box, Mailbox: h.box,
		PublicURL: h.base, Now: c.now, Build: models.BuildVersion(), Support: "help@example.com",
	}
	deps.Catalog.Swap(draws(t))
	if change != nil {
		change(&deps)
	}
	pages, err := web.New(deps)
	if err != nil {
		t.Fatal(err)
	}
	server.Config.Handler, h.pages, h.live = pages, pages, deps.Catalog
	server.Start()
	t.Cleanup(server.Close)
	return h
}

// draws returns a small catalog.
func draws(t *testing.T) *catalog.Catalog {
	t.Helper()
	b := catalog.NewBuilder(models.DataVersion{Number: 1, Token: "v1"})
	game := b.Game(models.Game{ID: "ny-numbers", Name: `New York "Numbers" <3>`, Digits: 3, Tods: models.NewTodSet(models.Midday, models.Evening), Jurisdiction: "NY"})
	for i, number := range []string{"007", "430", "700", "618"} {
		if err := game.Add(models.NewDate(2024, 7, 1)+models.Date(i/2), []models.Tod{models.Midday, models.Evening}[i%2], 1, []byte(number)); err != nil {
			t.Fatal(err)
		}
	}
	c, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// person is somebody with a browser that keeps cookies and does not follow redirects.
type person struct {
	h      *house
	client *http.Client
	jar    *cookiejar.Jar
}

func (h *house) person() *person {
	jar, err := cookiejar.New(nil)
	if err != nil {
		h.t.Fatal(err)
	}
	return &person{h, &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}, jar}
}

// page is a response.
type page struct {
	status int
	header http.Header
	text   string
}

func (p *person) do(req *http.Request) page {
	p.h.t.Helper()
	res, err := p.client.Do(req)
	if err != nil {
		p.h.t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		p.h.t.Fatal(err)
	}
	return page{res.StatusCode, res.Header, string(text)}
}

// request returns a request for a path, or a URL, with a form if it is not empty.
func (h *house) request(method, path, form string) *http.Request {
	h.t.Helper()
	if !strings.HasPrefix(path, "http") {
		path = h.base + path
	}
	req, err := http.NewRequest(method, path, strings.NewReader(form))
	if err != nil {
		h.t.Fatal(err)
	}
	if form != "" {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	return req
}

func (p *person) get(path string) page {
	p.h.t.Helper()
	return p.do(p.h.request(http.MethodGet, path, ""))
}

// post sends a form as a browser does from one of our pages.
func (p *person) post(path string, fields ...string) page {
	p.h.t.Helper()
	form := url.Values{}
	for i := 0; i < len(fields); i += 2 {
		form.Set(fields[i], fields[i+1])
	}
	req := p.h.request(http.MethodPost, path, form.Encode())
	req.Header.Set("Sec-Fetch-Site", "same-origin")
	return p.do(req)
}

// tokenOf returns the token in the newest mail to an address.
func (h *house) tokenOf(to string) string {
	h.t.Helper()
	for _, m := range h.box.All() {
		if strings.EqualFold(m.To, to) && m.Link != "" {
			u, err := url.Parse(m.Link)
			if err != nil {
				h.t.Fatal(err)
			}
			return u.Query().Get("token")
		}
	}
	h.t.Fatalf("no mail with a link to %s", to)
	return ""
}

// signIn requests a link, takes it from the mailbox and uses it.
func (p *person) signIn(email string) page {
	p.h.t.Helper()
	if got := p.post("/sign-in", "email", email); got.status != http.StatusOK {
		p.h.t.Fatalf("ask for a link: %d %s", got.status, got.text)
	}
	return p.post("/sign-in/link", "token", p.h.tokenOf(email))
}

// signedIn returns somebody who has signed in.
func (h *house) signedIn(email string) *person {
	h.t.Helper()
	p := h.person()
	p.signIn(email)
	return p
}

var keyForm = regexp.MustCompile(`ldk_[0-9A-Za-z]{38}`)

// says fails the test unless the page has the status and contains the texts.
func (p page) says(t *testing.T, status int, texts ...string) {
	t.Helper()
	if p.status != status {
		t.Errorf("status %d, want %d: %.300s", p.status, status, p.text)
	}
	for _, text := range texts {
		if !strings.Contains(p.text, text) {
			t.Errorf("the page does not say %q: %.1500s", text, p.text)
		}
	}
}

// leads fails the test unless the page redirects to the given one.
func (p page) leads(t *testing.T, to string) {
	t.Helper()
	if p.status != http.StatusSeeOther || p.header.Get("Location") != to {
		t.Errorf("status %d to %q, want 303 to %q", p.status, p.header.Get("Location"), to)
	}
}

func (h *house) account(email string) models.Account {
	h.t.Helper()
	a, err := h.store.Account(context.Background(), email)
	if err != nil {
		h.t.Fatal(err)
	}
	return a
}

func (p *person) cookie() string {
	u, err := url.Parse(p.h.base)
	if err != nil {
		p.h.t.Fatal(err)
	}
	for _, c := range p.jar.Cookies(u) {
		if c.Name == "session" {
			return c.Value
		}
	}
	return ""
}

// holds sets the person's session cookie to token.
func (p *person) holds(token string) {
	u, err := url.Parse(p.h.base)
	if err != nil {
		p.h.t.Fatal(err)
	}
	p.jar.SetCookies(u, []*http.Cookie{{Name: "session", Value: token, Path: "/"}})
}

func (h *house) keysOf(email string) []models.APIKey {
	h.t.Helper()
	keys, err := h.store.Keys(context.Background(), h.account(email).ID)
	if err != nil {
		h.t.Fatal(err)
	}
	return keys
}

func (h *house) uses(email string, n int64) {
	h.t.Helper()
	_, _, err := h.store.ApplyQuota(context.Background(), []store.QuotaOp{{Kind: store.QuotaTake, Key: h.account(email).ID, Period: 24 * time.Hour, Need: n, Limit: 100}})
	if err != nil {
		h.t.Fatal(err)
	}
}

func (h *house) used(email string) int64 {
	h.t.Helper()
	used, _, err := h.store.CountedToday(context.Background(), h.account(email).ID)
	if err != nil {
		h.t.Fatal(err)
	}
	return used
}
