package web_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"lottery/api/quota"
	"lottery/models"
	"lottery/models/store"
	"lottery/models/store/storetest"
	"lottery/web"
)

// A closed account's keys and sessions stop working. An account that is opened again on the same day keeps the day's
// count; on the next day it starts at zero.
func TestCloseAccount(t *testing.T) {
	t.Parallel()
	h := open(t, nil)
	p := h.signedIn("ada@example.com")
	h.uses("ada@example.com", 70)
	p.get("/dashboard/account/close").says(t, http.StatusOK, "Close your account?")
	p.post("/dashboard/account/close").says(t, http.StatusUnprocessableEntity, "Check the box")
	began := time.Now()
	p.post("/dashboard/account/close", "confirm", "yes").says(t, http.StatusOK, "Your account is closed")
	p.get("/dashboard").leads(t, "/sign-in")
	p.signIn("ADA@example.com").says(t, http.StatusOK, "Welcome")
	if took := time.Since(began); took < time.Second {
		t.Errorf("signed up again after %v: other nodes may still count calls of the closed account", took)
	}
	if used := h.used("ada@example.com"); used != 70 {
		t.Errorf("signed up again on the same day: %d used, not 70", used)
	}
	h.uses("ada@example.com", 20)
	p.post("/dashboard/account/close", "confirm", "yes").says(t, http.StatusOK)
	p.signIn("ada@example.com")
	if used := h.used("ada@example.com"); used != 90 {
		t.Errorf("closed twice: %d used, not 90", used)
	}
	h.person().signIn("other@example.com")
	if used := h.used("other@example.com"); used != 0 {
		t.Errorf("somebody else: %d used", used)
	}
	p.post("/dashboard/account/close", "confirm", "yes")
	h.clock.move(24 * time.Hour)
	p.signIn("ada@example.com")
	if used := h.used("ada@example.com"); used != 0 {
		t.Errorf("signed up again on another day: %d used", used)
	}
}

// While the counters do not answer, a closed account is not opened again: it would begin the day anew. The link works
// once they do.
func TestOpenedAgainWithoutCounters(t *testing.T) {
	t.Parallel()
	storetest.AwayFromMidnight(t)
	server := storetest.NewRedis(t)
	counters, err := quota.OpenRedis(server.URL(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { counters.Close() })
	h := open(t, func(d *web.Deps) { d.Counters = counters })
	p := h.signedIn("ada@example.com")
	ask := func(kind store.QuotaKind, n int64) int64 {
		t.Helper()
		op := store.QuotaOp{Kind: kind, Key: h.account("ada@example.com").ID, Period: 24 * time.Hour, Need: n, Limit: 100}
		found, _, err := counters.ApplyQuota(t.Context(), []store.QuotaOp{op})
		if err != nil {
			t.Fatal(err)
		}
		return found[0].Used
	}
	ask(store.QuotaTake, 70)
	p.post("/dashboard/account/close", "confirm", "yes").says(t, http.StatusOK)
	server.Stop()
	p.signIn("ada@example.com").says(t, http.StatusServiceUnavailable)
	if _, err := h.store.Account(t.Context(), "ada@example.com"); models.ErrorCode(err) != models.CodeNotFound {
		t.Fatalf("it is open: %v", err)
	}
	server.Start(t)
	storetest.Until(t, "the link works", func() bool {
		got := p.post("/sign-in/link", "token", h.tokenOf("ada@example.com"))
		counters.AcceptCounters() // as the counting of requests does when it meets the new server
		return got.status == http.StatusOK
	})
	if used := ask(store.QuotaPeek, 0); used != 70 {
		t.Errorf("%d used, not 70", used)
	}
}

// A suspension cannot be escaped by closing the account, or giving up its address, and signing up again.
func TestSuspendedStays(t *testing.T) {
	t.Parallel()
	h := open(t, nil)
	p := h.signedIn("ada@example.com")
	if _, err := h.store.SetAccountStatus(context.Background(), "ada@example.com", models.AccountSuspended); err != nil {
		t.Fatal(err)
	}
	p.get("/dashboard").says(t, http.StatusOK, "Your account is suspended")
	p.post("/dashboard/account/close", "confirm", "yes").says(t, http.StatusConflict, "Contact support")
	p.post("/dashboard/account/email", "email", "other@example.com").says(t, http.StatusConflict, "cannot change until the suspension is lifted. Contact support")
	p.get("/dashboard").says(t, http.StatusOK)
	if _, err := h.store.SetAccountStatus(context.Background(), "ada@example.com", models.AccountActive); err != nil {
		t.Fatal(err)
	}
	p.post("/dashboard/account/email", "email", "other@example.com").says(t, http.StatusOK, "We sent a link")
}
