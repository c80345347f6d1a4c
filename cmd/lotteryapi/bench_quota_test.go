package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"lottery/models"
	"lottery/models/store"
	"lottery/models/store/storetest"
)

// manyAccounts is how many accounts take turns in the second half of BenchmarkQuota.
const manyAccounts = 10_000

// manyWarm is seconds of load before each round with many accounts.
const manyWarm = 12

// BenchmarkQuota measures the metered path against the unmetered one, on each counter store, for one hot account
// and for many. `make bench` runs it.
func BenchmarkQuota(b *testing.B) {
	if _, err := exec.LookPath("wrk"); err != nil {
		b.Skip("wrk is not installed: sudo apt-get install -y wrk")
	}
	sqlite, postgres, redis := storetest.URL(b), storetest.NewPostgres(b), storetest.NewRedis(b)
	hot := map[string]string{sqlite: fillBench(b, sqlite), postgres: fillBench(b, postgres)}
	many := map[string]string{sqlite: fillAccounts(b, sqlite), postgres: fillAccounts(b, postgres)}
	servers := []struct{ name, base, url string }{
		{unmetered, startYardstick(b, "unmetered", sqlite, captured{}), sqlite},
		{"SQLite", start(b, b.TempDir(), serveArgs(sqlite)...).base, sqlite},
		{"PostgreSQL", start(b, b.TempDir(), serveArgs(postgres)...).base, postgres},
		{"Redis", start(b, b.TempDir(), serveArgs(sqlite, "--redis-url", redis.URL())...).base, sqlite},
	}
	for b.Loop() {
		for _, scenario := range []string{"one hot account", fmt.Sprintf("%d accounts", manyAccounts)} {
			subjects := make([]subject, 0, len(servers))
			for _, s := range servers {
				// Blocks go home while the others are measured: each round of many accounts begins with a while of
				// load in which they come again.
				next := subject{name: s.name, base: s.base, keys: many[s.url], warm: manyWarm}
				if scenario == "one hot account" {
					next.keys, next.warm = writeKeys(b, []string{hot[s.url]}), 0
				}
				subjects = append(subjects, next)
			}
			for _, s := range subjects {
				pressure(b, s) // every account is known before anything is measured
			}
			rates, tails := measure(b, subjects)
			report(os.Stdout, scenario, subjects, unmetered, rates, tails)
			for _, s := range subjects[1:] {
				b.ReportMetric(median(ratios(rates[s.name], rates[unmetered])), strings.ReplaceAll(scenario+"/"+s.name, " ", "-"))
			}
		}
	}
}

const unmetered = "unmetered"

// fillAccounts makes manyAccounts Pro accounts and gives the file of their keys.
func fillAccounts(b *testing.B, url string) string {
	b.Helper()
	ctx := context.Background()
	st, err := store.Open(ctx, url, store.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer st.Close()
	pro := models.PlanPro
	keys := make([]string, manyAccounts)
	for i := range keys {
		k, err := st.CreateKey(ctx, models.DefaultPlans(), store.NewKey{Account: fmt.Sprintf("a%d@example.com", i), Create: true, Grant: &pro})
		if err != nil {
			b.Fatal(err)
		}
		keys[i] = k.Secret
	}
	return writeKeys(b, keys)
}

func writeKeys(b *testing.B, keys []string) string {
	b.Helper()
	path := filepath.Join(b.TempDir(), "keys")
	if err := os.WriteFile(path, []byte(strings.Join(keys, "\n")+"\n"), 0o600); err != nil {
		b.Fatal(err)
	}
	return path
}

// rotate is a wrk script: requests take turns among the keys of the file that $KEYS names.
const rotate = `
local requests = {}
function init()
  for key in io.lines(os.getenv("KEYS")) do
    requests[#requests + 1] = wrk.format("GET", nil, { ["X-API-Key"] = key })
  end
end
local i = 0
function request()
  i = i % #requests + 1
  return requests[i]
end
`
