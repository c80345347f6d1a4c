package main

import (
	"encoding/json"
	"lottery/models/store/storetest"
	"net/http"
	"strings"
)

// judge compares what the servers say once all is well again with what they told their clients before.
func (w *chaos) judge() {
	w.t.Helper()
	if !w.importNext() {
		w.t.Fatal("an import fails in quiet times")
	}
	w.converge()
	for _, a := range w.accounts {
		w.judgeCount(a)
	}
	w.judgeKeys()
}

// converge: every server serves the newest draws, knows the plan that was set last, and is ready.
func (w *chaos) converge() {
	w.t.Helper()
	newest, changing := w.imported.Load(), w.account("changing")
	want := map[string]string{"free": "100", "pro": "10000"}[w.plan]
	for _, n := range w.balancer.nodes {
		storetest.Until(w.t, n.host+" to answer the newest draws", func() bool {
			_, body := w.at(n.host, "/v1/draws/date/2020-01-01", w.account("big").key)
			return strings.Contains(string(body), chaosNumber(int(newest), 0, "Midday"))
		})
		storetest.Until(w.t, n.host+" to know the plan", func() bool {
			res, _ := w.at(n.host, "/v1/games", changing.key)
			if res.StatusCode == http.StatusOK {
				changing.served.Add(1)
			}
			return res.Header.Get("X-Ratelimit-Limit") == want
		})
	}
}

// judgeCount: whatever was served was counted, and no limit was exceeded.
func (w *chaos) judgeCount(a *chaosAccount) {
	w.t.Helper()
	var used int64
	_, body := w.at(w.balancer.nodes[0].host, "/v1/usage", a.key)
	var answer struct{ Used *int64 }
	if err := json.Unmarshal(body, &answer); err != nil || answer.Used == nil {
		w.t.Fatalf("/v1/usage: %s", body)
	}
	used = *answer.Used
	served, refused, gone := a.served.Load(), a.refused.Load(), a.lost.Load()
	w.t.Logf("%-22s limit %10d: %6d served, %6d refused, %4d without an answer, %6d counted", a.email, a.limit, served, refused, gone, used)
	singly := w.counters == "Redis" || a.limit <= 256 // nothing is held in advance, so that a kill forfeits nothing
	switch {
	case a.email == "big@example.com": // judge sent requests with it, too
	case used < served:
		w.t.Errorf("%s: %d were served, %d are counted", a.email, served, used)
	case a.strict && served > a.limit:
		w.t.Errorf("%s: %d were served, the limit is %d", a.email, served, a.limit)
	case a.strict && singly && used > served+gone:
		w.t.Errorf("%s: %d were served and %d have no answer, but %d are counted", a.email, served, gone, used)
	case a.strict && singly && refused > 0 && served+gone < a.limit:
		w.t.Errorf("%s: %d were served and %d have no answer, and others refused, of %d", a.email, served, gone, a.limit)
	case !a.strict && served > a.limit*int64(1+len(w.servers)*(w.did["PostgreSQL is away"]+w.did["the counters are away"]+w.did["PostgreSQL goes away during an import"])):
		w.t.Errorf("%s: %d were served, more than any outage explains", a.email, served)
	}
}

// judgeKeys: keys that lotteryadmin made work on every server, keys that it revoked on none.
func (w *chaos) judgeKeys() {
	w.t.Helper()
	for _, a := range w.accounts {
		for _, n := range w.balancer.nodes {
			if res, body := w.at(n.host, "/v1/games", a.key); res.StatusCode != http.StatusOK && res.StatusCode != http.StatusTooManyRequests {
				w.t.Errorf("%s at %s: %d %s", a.email, n.host, res.StatusCode, body)
			}
			for _, old := range a.revoked {
				storetest.Until(w.t, "a revoked key to be refused at "+n.host, func() bool {
					res, _ := w.at(n.host, "/v1/games", old.key)
					return res.StatusCode == http.StatusUnauthorized
				})
			}
		}
	}
}
