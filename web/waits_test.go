package web_test

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
	"weak"

	"lottery/billing/sandbox"
	"lottery/models/catalog"
	"lottery/models/store"
	"lottery/models/store/storetest"
	"lottery/web"
)

// A page waits for a database that hangs, but not forever. Here somebody holds a lock on the table that it shows.
func TestPagesOfADatabaseThatHangs(t *testing.T) {
	t.Parallel()
	url := storetest.NewPostgres(t)
	h := open(t, func(d *web.Deps) {
		d.Store, d.Patience = storetest.OpenURL(t, url, store.Options{}), time.Second
	})
	p := h.signedIn("ada@example.com")
	answer := storetest.Lock(t, url, "sessions, import_runs")
	p.get("/dashboard").says(t, http.StatusServiceUnavailable)
	p.get("/status").says(t, http.StatusOK, "unreachable; draws are served from memory")
	p.get("/pricing").says(t, http.StatusOK)
	answer()
	p.get("/dashboard").says(t, http.StatusOK)
}

// For the gaps of a game, which its page can do without, nobody waits as long as a page may take, however many ask.
func TestGapsAreNotWaitedForLong(t *testing.T) {
	t.Parallel()
	url := storetest.NewPostgres(t)
	h := open(t, func(d *web.Deps) { d.Store, d.Patience = storetest.OpenURL(t, url, store.Options{}), time.Minute })
	answer := storetest.Lock(t, url, "games")
	var asking sync.WaitGroup
	began := time.Now()
	for range 10 {
		asking.Go(func() {
			got := h.person().get("/explore/ny-numbers")
			if got.status != http.StatusOK || strings.Contains(got.text, `id="gaps"`) {
				t.Errorf("%d %.4000s", got.status, got.text)
			}
		})
	}
	asking.Wait()
	if took := time.Since(began); took > 20*time.Second { // 3, where nothing else is to do
		t.Errorf("it took %s", took)
	}
	answer()
}

// A database that waits for a standby that is gone commits without answering: a key is rotated, and nobody sees the new
// one. The page does not claim that nothing was changed.
func TestPagesOfADatabaseThatCommitsWithoutAnswering(t *testing.T) {
	t.Parallel()
	url := storetest.NewPostgresServer(t).NewDatabase(t)
	h := open(t, func(d *web.Deps) {
		d.Store, d.Patience = storetest.OpenURL(t, url, store.Options{}), time.Second
	})
	p := h.signedIn("ada@example.com")
	db := storetest.SQL(t, url)
	var id string
	if err := db.QueryRowContext(t.Context(), "SELECT id FROM api_keys").Scan(&id); err != nil {
		t.Fatal(err)
	}
	storetest.Exec(t, url, "ALTER SYSTEM SET synchronous_standby_names = 'gone'", "SELECT pg_reload_conf()")
	storetest.Until(t, "a rotation without an answer", func() bool {
		got := p.post("/dashboard/keys/"+id+"/rotate", "grace", "0")
		if got.status == http.StatusOK { // the server has not read its settings yet
			if err := db.QueryRowContext(t.Context(), "SELECT id FROM api_keys WHERE revoked_at IS NULL AND grace_until IS NULL").Scan(&id); err != nil {
				t.Fatal(err)
			}
			return false
		}
		got.says(t, http.StatusServiceUnavailable, "may have been done or not", "try again in a minute")
		return true
	})
	storetest.Until(t, "the commit to be seen by others", func() bool { // they see it when the server has noticed that nobody waits for it
		var live int
		if err := db.QueryRowContext(t.Context(), "SELECT count(*) FROM api_keys WHERE id = $1 AND grace_until IS NULL", id).Scan(&live); err != nil {
			t.Fatal(err)
		}
		return live == 0
	})
	p.get("/dashboard/keys").says(t, http.StatusOK)
}

// The sign-in form keeps what was typed when the database hangs.
func TestSignInWhileTheDatabaseHangs(t *testing.T) {
	t.Parallel()
	url := storetest.NewPostgres(t)
	h := open(t, func(d *web.Deps) {
		d.Store, d.Patience = storetest.OpenURL(t, url, store.Options{}), time.Second
	})
	answer := storetest.Lock(t, url, "links")
	got := h.person().post("/sign-in", "email", "ada@example.com", "next", "upgrade")
	got.says(t, http.StatusServiceUnavailable, `value="ada@example.com"`, `name="next" value="upgrade"`, "Try again in a minute")
	if got.header.Get("Retry-After") == "" {
		t.Error("it does not say when to try again")
	}
	answer()
	h.person().post("/sign-in", "email", "ada@example.com").says(t, http.StatusOK, "Check your email")
}

// lines is a log, line by line.
type lines chan string

func (l lines) Write(b []byte) (int, error) {
	l <- string(b)
	return len(b), nil
}

// A client that leaves before a page is ready is not a failure: the log must not blame Stripe for it.
func TestPageThatIsNotWaitedForIsNoFailure(t *testing.T) {
	t.Parallel()
	log := make(lines, 100)
	s := openShop(t, func(d *web.Deps) { d.Log = slog.New(slog.NewTextHandler(log, nil)) })
	p := s.signedIn("ada@example.com")
	s.stripe.FaultAPI(sandbox.APIFault{Action: sandbox.DelayReply, Delay: time.Minute})
	ctx, hangUp := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer hangUp()
	r := s.request(http.MethodPost, "/dashboard/plan/upgrade", "").WithContext(ctx)
	if res, err := p.client.Do(r); err == nil {
		_ = res.Body.Close()
		t.Fatal("nobody hung up")
	}
	for {
		select {
		case line := <-log:
			if strings.Contains(line, "level=ERROR") {
				t.Fatal(line)
			}
			if strings.Contains(line, "was not waited for") && strings.Contains(line, "/dashboard/plan/upgrade") {
				return
			}
		case <-time.After(10 * time.Second):
			t.Fatal("the log does not tell")
		}
	}
}

// A key in the path of a page is not logged.
func TestKeyInAPathIsNotLogged(t *testing.T) {
	t.Parallel()
	url := storetest.NewPostgres(t)
	var log bytes.Buffer
	h := open(t, func(d *web.Deps) {
		d.Store, d.Patience, d.Log = storetest.OpenURL(t, url, store.Options{}), 500*time.Millisecond, slog.New(slog.NewTextHandler(&log, nil))
	})
	p := h.person()
	key := keyForm.FindString(p.signIn("ada@example.com").text)
	if key == "" {
		t.Fatal("no key was shown")
	}
	answer := storetest.Lock(t, url, "sessions")
	p.get("/dashboard/keys/"+key+"/revoke").says(t, http.StatusServiceUnavailable)
	answer()
	if text := log.String(); !strings.Contains(text, "/dashboard/keys/"+key[:12]+"…/revoke") || strings.Contains(text, key) {
		t.Errorf("the log says %s", text)
	}
}

// The pages release a catalog that was replaced, even if no page is requested afterwards.
func TestReplacedCatalogsGo(t *testing.T) {
	t.Parallel()
	live := &catalog.Live{}
	live.Swap(draws(t))
	h := open(t, func(d *web.Deps) { d.Catalog = live })
	for _, path := range []string{"/", "/explore", "/docs", "/explore/" + live.Load().Games()[0].ID} {
		h.person().get(path).says(t, http.StatusOK)
	}
	old := weak.Make(live.Load())
	live.Swap(draws(t))
	storetest.Until(t, "the memory of the catalog before", func() bool { // cleanups run some time after a collection
		runtime.GC()
		return old.Value() == nil
	})
}

// While another process holds the account's lock, because Stripe does not answer it, the owner's pages wait and then
// show what is known. A customer who has just paid is not told that something went wrong.
func TestPagesOfAnAccountThatIsWorkedOn(t *testing.T) {
	t.Parallel()
	s := openShop(t, func(d *web.Deps) { d.Patience = 2 * time.Second })
	p := s.signedIn("ada@example.com")
	returned := s.buy(p, sandbox.CardOK)
	l, ok, err := s.store.TryLease(t.Context(), "billing:"+s.account("ada@example.com").ID, time.Minute)
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	p.get(returned).says(t, http.StatusOK, "being processed")
	p.get("/dashboard/plan?from=portal").says(t, http.StatusOK, "Plan and billing")
	p.post("/dashboard/plan/upgrade").says(t, http.StatusServiceUnavailable, "try again in a minute")
	if err := s.store.EndLease(t.Context(), l); err != nil {
		t.Fatal(err)
	}
	p.get(returned).says(t, http.StatusOK, "Welcome to Pro")
}
