package store_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"lottery/models"
	"lottery/models/store"
	"lottery/models/store/storetest"
)

func TestLease(t *testing.T) {
	twoNodes(t, func(t *testing.T, a, b *store.Store) {
		ctx := t.Context()
		take := func(st *store.Store, d time.Duration, want bool) store.Lease {
			t.Helper()
			l, ok, err := st.TryLease(ctx, "billing:x", d)
			if err != nil || ok != want {
				t.Fatalf("taken: %v %v, want %v", ok, err, want)
			}
			return l
		}
		keep := func(st *store.Store, l store.Lease, want bool) {
			t.Helper()
			if held, err := st.KeepLease(ctx, l, time.Hour); err != nil || held != want {
				t.Fatalf("kept: %v %v, want %v", held, err, want)
			}
		}
		first := take(a, time.Hour, true)
		take(b, time.Hour, false)
		take(a, time.Hour, false) // not even by the same process
		if _, ok, err := b.TryLease(ctx, "billing:y", time.Hour); err != nil || !ok {
			t.Errorf("another name: %v %v", ok, err)
		}
		keep(a, first, true)
		if err := a.EndLease(ctx, first); err != nil {
			t.Fatal(err)
		}
		keep(a, first, false)
		dead := take(b, past, true)
		keep(b, dead, true) // nobody else took it in between
		take(a, time.Hour, false)
		if err := b.EndLease(ctx, dead); err != nil {
			t.Fatal(err)
		}
		dead = take(b, past, true)
		heir := take(a, time.Hour, true)
		keep(b, dead, false)
		if err := b.EndLease(ctx, dead); err != nil { // it no longer holds the lock
			t.Fatal(err)
		}
		take(b, time.Hour, false)
		keep(a, heir, true)
	})
}

// A lock taken while the clock was ahead, by a process that was killed before the clock was corrected, does not block
// the work until that time.
func TestLeaseOfAClockThatWasAhead(t *testing.T) {
	twoNodes(t, func(t *testing.T, a, b *store.Store) {
		ctx := t.Context()
		ahead, ok, err := a.TryLease(ctx, "job:x", 400*24*time.Hour)
		if err != nil || !ok {
			t.Fatal(ok, err)
		}
		if held, err := b.Leased(ctx, "job:x"); err != nil || held {
			t.Errorf("held: %v %v", held, err)
		}
		heir, ok, err := b.TryLease(ctx, "job:x", time.Minute)
		if err != nil || !ok {
			t.Fatal(ok, err)
		}
		if held, err := a.KeepLease(ctx, ahead, time.Minute); err != nil || held {
			t.Errorf("kept: %v %v", held, err)
		}
		if held, err := a.Leased(ctx, "job:x"); err != nil || !held {
			t.Errorf("held by the heir: %v %v", held, err)
		}
		if held, err := b.KeepLease(ctx, heir, time.Minute); err != nil || !held {
			t.Errorf("kept by the heir: %v %v", held, err)
		}
	})
}

// Work done under a lock that somebody else has taken since is not stored, not even in part.
func TestLostLeaseStoresNothing(t *testing.T) {
	twoNodes(t, func(t *testing.T, a, b *store.Store) {
		ctx := t.Context()
		account := storetest.Account(t, a, "ann@example.com")
		name := "billing:" + account.ID
		lost, _, err := a.TryLease(ctx, name, past)
		if err != nil {
			t.Fatal(err)
		}
		held, ok, err := b.TryLease(ctx, name, time.Hour)
		if err != nil || !ok {
			t.Fatal(ok, err)
		}
		change := store.BillingChange{
			Billing: models.BillingAccount{AccountID: account.ID, Attempt: 7}, Plan: new(models.PlanPro), Actor: "stripe",
			Flags: []models.AccountFlag{{AccountID: account.ID, Kind: models.FlagRefund}},
			Mails: []models.Mail{{AccountID: account.ID, Kind: models.MailWelcomePro, Data: "{}", Once: "x"}},
		}
		for range 2 { // first taken by somebody else, then released
			if _, err := a.StoreBilling(ctx, lost, change); !errors.Is(err, store.ErrLeaseLost) || models.ErrorCode(err) != models.CodeUnavailable {
				t.Errorf("%v", err)
			}
			if err := a.SaveBilling(ctx, lost, change.Billing); !errors.Is(err, store.ErrLeaseLost) {
				t.Errorf("%v", err)
			}
			if err := b.EndLease(ctx, held); err != nil {
				t.Fatal(err)
			}
		}
		got, err := a.Account(ctx, account.ID)
		if err != nil || got.BilledPlan != nil {
			t.Errorf("%v %+v", err, got)
		}
		row, err := a.BillingAccount(ctx, account.ID)
		if err != nil || row.Attempt != 0 {
			t.Errorf("%v %+v", err, row)
		}
		flags, _ := a.Flags(ctx, account.ID)
		mails, _ := a.MailsNewest(ctx, store.MailFilter{AccountID: account.ID})
		audit, _ := a.AuditOf(ctx, account.ID, 9)
		if len(flags)+len(mails)+len(audit) != 0 {
			t.Errorf("%+v %+v %+v", flags, mails, audit)
		}
	})
}

// Many workers on two nodes run one at a time, and nobody's change is lost.
func TestLeaseAtOnce(t *testing.T) {
	twoNodes(t, func(t *testing.T, a, b *store.Store) {
		account := storetest.Account(t, a, "ann@example.com")
		const workers, turns = 6, 10
		var inside, overlaps atomic.Int64
		var wg sync.WaitGroup
		for i := range workers {
			st := []*store.Store{a, b}[i%2]
			wg.Go(func() {
				for done := 0; done < turns; {
					l, ok, err := st.TryLease(context.Background(), "billing:"+account.ID, time.Hour)
					if err != nil {
						t.Error(err)
						return
					}
					if !ok {
						continue
					}
					if inside.Add(1) != 1 {
						overlaps.Add(1)
					}
					row, err := st.BillingAccount(context.Background(), account.ID)
					if err == nil {
						row.Attempt++
						err = st.SaveBilling(context.Background(), l, row)
					}
					inside.Add(-1)
					if err := errors.Join(err, st.EndLease(context.Background(), l)); err != nil {
						t.Error(err)
						return
					}
					done++
				}
			})
		}
		wg.Wait()
		row, err := b.BillingAccount(t.Context(), account.ID)
		if err != nil || row.Attempt != workers*turns || overlaps.Load() != 0 {
			t.Errorf("%d of %d changes, %d overlaps, %v", row.Attempt, workers*turns, overlaps.Load(), err)
		}
	})
}
