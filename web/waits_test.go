package web_test

import (
	"net/http"
	"runtime"
	"testing"
	"time"
	"weak"

	"lottery/models/catalog"
	"lottery/models/store"
	"lottery/models/store/storetest"
	"lottery/web"
)

// A page waits for a database that says nothing, but not for ever: here somebody holds what it shows.
func TestPagesOfADatabaseThatHangs(t *testing.T) {
	t.Parallel()
	url := storetest.NewPostgres(t)
	h := open(t, func(d *web.Deps) {
		d.Store, d.Patience = storetest.OpenURL(t, url, store.Options{}), time.Second
	})
	p := h.person()
	p.signIn("ada@example.com")
	answer := storetest.Lock(t, url, "sessions, import_runs")
	p.get("/dashboard").says(t, http.StatusServiceUnavailable)
	p.get("/status").says(t, http.StatusOK, "away; draws are served from memory")
	p.get("/pricing").says(t, http.StatusOK)
	answer()
	p.get("/dashboard").says(t, http.StatusOK)
}

// A catalog that was replaced is let go of by the pages too, also where nobody looks at one afterwards.
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
	for range 100 {
		runtime.GC()
		if old.Value() == nil {
			return
		}
		time.Sleep(20 * time.Millisecond) // who is told of what is gone is told later
	}
	t.Error("it is still in memory")
}
