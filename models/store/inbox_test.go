package store_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"lottery/models"
	"lottery/models/store"
	"lottery/models/store/storetest"
)

func addEvents(t *testing.T, st *store.Store, n int) {
	t.Helper()
	for i := range n {
		e := models.StripeEvent{ID: fmt.Sprintf("evt_%03d", i), Type: "invoice.paid", State: models.EventPending, CreatedAt: time.Now().UTC()}
		if isNew, err := st.AddEvent(t.Context(), e); err != nil || !isNew {
			t.Fatal(isNew, err)
		}
	}
}

func claim(t *testing.T, st *store.Store, d time.Duration, want int) []models.StripeEvent {
	t.Helper()
	list, err := st.ClaimEvents(t.Context(), 100, d, nil)
	if err != nil || len(list) != want {
		t.Fatalf("%d claimed, want %d: %v", len(list), want, err)
	}
	return list
}

// Two nodes share the inbox: each event is processed by only one.
func TestClaimsAtOnce(t *testing.T) {
	twoNodes(t, func(t *testing.T, a, b *store.Store) {
		const events = 120
		addEvents(t, a, events)
		takenAtOnce(t, a, b, events, func(ctx context.Context, st *store.Store) (ids []string, err error) {
			list, err := st.ClaimEvents(ctx, 7, time.Minute, nil) // an hour would count as a wrong clock
			for _, e := range list {
				ids = append(ids, e.ID)
				if e.Attempts != 1 {
					t.Errorf("%+v", e)
				}
			}
			return ids, err
		})
		claim(t, a, time.Minute, 0)
	})
}

// An event claimed by a worker that died is taken by another; if the first is alive after all, its result is ignored.
func TestClaimOfADeadWorker(t *testing.T) {
	twoNodes(t, func(t *testing.T, a, b *store.Store) {
		ctx := t.Context()
		addEvents(t, a, 1)
		dead := claim(t, a, past, 1)[0]
		heir := claim(t, b, time.Hour, 1)[0]
		if heir.Attempts != 2 {
			t.Errorf("%+v", heir)
		}
		claim(t, a, time.Hour, 0)
		if err := b.SettleEvent(ctx, heir, models.EventDone, "done", 0); err != nil {
			t.Fatal(err)
		}
		for _, state := range []models.EventState{models.EventPending, models.EventFailed} {
			if err := a.SettleEvent(ctx, dead, state, "late", 0); err != nil {
				t.Fatal(err)
			}
			if err := a.KeepClaims(ctx, []string{dead.ID}, past); err != nil {
				t.Fatal(err)
			}
			if list, err := a.Events(ctx, store.EventFilter{State: models.EventDone}); err != nil || len(list) != 1 || list[0].Outcome != "done" || list[0].DoneAt == nil {
				t.Errorf("%v %+v", err, list)
			}
		}
		claim(t, a, time.Hour, 0)
	})
}

func TestEventLives(t *testing.T) {
	twoNodes(t, func(t *testing.T, a, b *store.Store) {
		ctx := t.Context()
		addEvents(t, a, 2)
		if isNew, err := b.AddEvent(ctx, models.StripeEvent{ID: "evt_000", Type: "other", State: models.EventPending}); err != nil || isNew {
			t.Errorf("the same event again: %v %v", isNew, err)
		}
		if isNew, err := b.AddEvent(ctx, models.StripeEvent{ID: "evt_ignored", Type: "other", State: models.EventIgnored}); err != nil || !isNew {
			t.Errorf("%v %v", isNew, err)
		}
		if list, err := b.Events(ctx, store.EventFilter{}); err != nil || len(list) != 3 || list[0].ID != "evt_ignored" || list[0].DoneAt == nil || list[1].DoneAt != nil {
			t.Errorf("the newest first, of which nothing is to be done: %v %+v", err, list)
		}
		both := claim(t, a, time.Hour, 2)
		if err := a.SettleEvent(ctx, both[0], models.EventPending, "not now", time.Hour); err != nil {
			t.Fatal(err)
		}
		if err := a.SettleEvent(ctx, both[1], models.EventFailed, "never", 0); err != nil {
			t.Fatal(err)
		}
		claim(t, b, time.Hour, 0)
		if q, err := b.InboxState(ctx); err != nil || q.Waiting != 1 || q.Dead != 1 || q.Oldest.IsZero() {
			t.Errorf("%+v %v", q, err)
		}
		if list, err := b.Events(ctx, store.EventFilter{State: models.EventFailed, Limit: 5}); err != nil || len(list) != 1 || list[0].Outcome != "never" {
			t.Errorf("%v %+v", err, list)
		}
		for _, e := range both {
			if again, err := b.RetryEvent(ctx, e.ID); err != nil || again.State != models.EventPending || again.Attempts != 0 || again.DoneAt != nil {
				t.Errorf("%v %+v", err, again)
			}
		}
		if _, err := b.RetryEvent(ctx, "evt_none"); models.ErrorCode(err) != models.CodeNotFound {
			t.Errorf("%v", err)
		}
		for _, e := range claim(t, b, time.Hour, 2) {
			if e.Attempts != 1 || e.Type != "invoice.paid" {
				t.Errorf("%+v", e)
			}
			if err := b.SettleEvent(ctx, e, models.EventDone, "done", 0); err != nil {
				t.Fatal(err)
			}
		}
		if q, err := a.InboxState(ctx); err != nil || q != (store.QueueState{}) {
			t.Errorf("%+v %v", q, err)
		}
	})
}

// Events received or postponed while the clock was ahead do not wait until that time.
func TestInboxClockWasAhead(t *testing.T) {
	t.Parallel()
	storetest.EachURL(t, func(t *testing.T, url string) {
		const off = 48 * time.Hour
		ahead := storetest.OpenURL(t, url, store.Options{
			Now: func() time.Time { return time.Now().Add(off) }, Skew: func() time.Duration { return off },
		})
		mended := storetest.OpenURL(t, url, store.Options{})
		addEvents(t, ahead, 3)
		tried := claim(t, ahead, past, 3)
		if err := ahead.SettleEvent(t.Context(), tried[0], models.EventPending, "not now", time.Minute); err != nil {
			t.Fatal(err)
		}
		if _, err := ahead.RetryEvent(t.Context(), tried[1].ID); err != nil {
			t.Fatal(err)
		}
		claim(t, mended, time.Minute, 3)
		claim(t, mended, time.Minute, 0)
		if isNew, err := ahead.AddEvent(t.Context(), models.StripeEvent{ID: "evt_new", State: models.EventPending}); err != nil || !isNew {
			t.Fatal(isNew, err)
		}
		claim(t, mended, time.Minute, 1)
	})
}

// Among nodes on PostgreSQL, one whose clock is wrong respects the claims of others, and they respect its claims.
func TestClaimsByOneClock(t *testing.T) {
	t.Parallel()
	url := storetest.NewPostgres(t)
	wrong := storetest.OpenURL(t, url, store.Options{Now: func() time.Time { return time.Now().Add(48 * time.Hour) }})
	right := storetest.OpenURL(t, url, store.Options{})
	addEvents(t, right, 1)
	claim(t, right, time.Minute, 1)
	claim(t, wrong, time.Minute, 0)
	if isNew, err := wrong.AddEvent(t.Context(), models.StripeEvent{ID: "evt_new", State: models.EventPending}); err != nil || !isNew {
		t.Fatal(isNew, err)
	}
	for range 2 { // claimed, and the claim extended
		if err := wrong.KeepClaims(t.Context(), []string{claim(t, wrong, time.Minute, 1)[0].ID}, past); err != nil {
			t.Fatal(err)
		}
	}
	kept := claim(t, wrong, time.Minute, 1)
	claim(t, right, time.Minute, 0)
	if err := wrong.SettleEvent(t.Context(), kept[0], models.EventPending, "not now", 0); err != nil {
		t.Fatal(err)
	}
	claim(t, right, time.Minute, 1)
}

// An event that was given up weeks ago and is retried by hand counts as waiting since the retry, even after more
// attempts; an event received before the retry is the oldest.
func TestOldestAfterRetry(t *testing.T) {
	t.Parallel()
	storetest.EachURL(t, func(t *testing.T, url string) {
		ago := func(d time.Duration) *store.Store {
			return storetest.OpenURL(t, url, store.Options{Now: func() time.Time { return time.Now().Add(-d) }})
		}
		now := ago(0)
		waits := func(want time.Duration) {
			t.Helper()
			q, err := now.InboxState(t.Context())
			if err != nil || (time.Since(q.Oldest)-want).Abs() > time.Minute {
				t.Errorf("the oldest of %d has waited for %s, want %s: %v", q.Waiting, time.Since(q.Oldest), want, err)
			}
		}
		before := ago(21 * aDay)
		addEvents(t, before, 1)
		waits(21 * aDay)
		e := claim(t, before, time.Hour, 1)[0]
		if err := before.SettleEvent(t.Context(), e, models.EventFailed, "never", 0); err != nil {
			t.Fatal(err)
		}
		if _, err := now.RetryEvent(t.Context(), e.ID); err != nil {
			t.Fatal(err)
		}
		waits(0)
		claim(t, now, time.Hour, 1)
		waits(0)
		if _, err := ago(time.Hour).AddEvent(t.Context(), models.StripeEvent{ID: "evt_older", State: models.EventPending}); err != nil {
			t.Fatal(err)
		}
		waits(time.Hour)
	})
}

// A customer's payments belong to the account of its newest event that has one: events without an account, and other
// customers' events, do not change that.
func TestAccountOfEvents(t *testing.T) {
	t.Parallel()
	storetest.EachURL(t, func(t *testing.T, url string) {
		ctx, now := t.Context(), time.Now()
		st := storetest.OpenURL(t, url, store.Options{Now: func() time.Time { return now }})
		for i, e := range []models.StripeEvent{
			{CustomerID: "cus_1", AccountID: "acc_before"},
			{CustomerID: "cus_1", AccountID: "acc_now"},
			{CustomerID: "cus_1"},
			{CustomerID: "cus_2", AccountID: "acc_other"},
			{CustomerID: "cus_3"},
		} {
			e.ID, e.Type, e.State, e.CreatedAt = fmt.Sprintf("evt_%d", 9-i), "invoice.paid", models.EventDone, now
			if _, err := st.AddEvent(ctx, e); err != nil {
				t.Fatal(err)
			}
			now = now.Add(time.Second)
		}
		for customer, want := range map[string]string{"cus_1": "acc_now", "cus_2": "acc_other"} {
			if got, err := st.AccountOfEvents(ctx, customer); err != nil || got != want {
				t.Errorf("%s: %q %v, want %q", customer, got, err, want)
			}
		}
		if got, err := st.AccountOfEvents(ctx, "cus_3"); models.ErrorCode(err) != models.CodeNotFound {
			t.Errorf("a customer whose events were of nobody: %q %v", got, err)
		}
	})
}

// An event received by a node whose clock is slightly ahead is due at once, and due events are taken in the order in
// which they came, whatever their ids.
func TestEventsAreTakenAsTheyCame(t *testing.T) {
	t.Parallel()
	storetest.EachURL(t, func(t *testing.T, url string) {
		ctx, now := t.Context(), time.Now().Add(10*time.Minute)
		ahead := storetest.OpenURL(t, url, store.Options{Now: func() time.Time { return now }})
		right := storetest.OpenURL(t, url, store.Options{})
		for _, id := range []string{"evt_3", "evt_2", "evt_1"} {
			if _, err := ahead.AddEvent(ctx, models.StripeEvent{ID: id, Type: "invoice.paid", State: models.EventPending}); err != nil {
				t.Fatal(err)
			}
			now = now.Add(time.Second)
		}
		for _, want := range []string{"evt_3", "evt_2", "evt_1"} {
			if list, err := right.ClaimEvents(ctx, 1, time.Hour, nil); err != nil || len(list) != 1 || list[0].ID != want {
				t.Fatalf("%v %+v, want %s", err, list, want)
			}
		}
	})
}
