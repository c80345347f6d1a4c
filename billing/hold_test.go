package billing

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"lottery/configs"
	"lottery/models"
	"lottery/models/store"
	"lottery/models/store/storetest"
)

// shortly runs test with a node whose leases last a second, and another node's store.
func shortly(t *testing.T, test func(t *testing.T, s *Service, other *store.Store)) {
	t.Helper()
	t.Parallel()
	storetest.EachURL(t, func(t *testing.T, url string) {
		t.Parallel()
		s := New(Options{Store: storetest.OpenURL(t, url, store.Options{}), Stripe: configs.Stripe{SecretKey: "sk_test_x"}})
		s.leaseFor = time.Second
		test(t, s, storetest.OpenURL(t, url, store.Options{}))
	})
}

// Work that takes longer than a lease keeps its lock.
func TestLocksOfTheLivingAreKept(t *testing.T) {
	shortly(t, func(t *testing.T, s *Service, other *store.Store) {
		err := s.locked(t.Context(), "acc", func(ctx context.Context, _ store.Lease) error {
			for end := time.Now().Add(5 * s.leaseFor / 2); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
				if _, ok, err := other.TryLease(ctx, "billing:acc", time.Minute); err != nil || ok {
					t.Fatalf("another node has the lock: %v", err)
				}
			}
			return ctx.Err()
		})
		if err != nil {
			t.Error(err)
		}
		if _, ok, err := other.TryLease(t.Context(), "billing:acc", time.Minute); err != nil || !ok {
			t.Errorf("not given back: %v", err)
		}
	})
}

// Work whose lock is lost is cancelled.
func TestWorkEndsWithItsLock(t *testing.T) {
	shortly(t, func(t *testing.T, s *Service, other *store.Store) {
		err := s.locked(t.Context(), "acc", func(ctx context.Context, l store.Lease) error {
			if err := other.EndLease(ctx, l); err != nil {
				t.Error(err)
			}
			if _, ok, err := other.TryLease(ctx, "billing:acc", time.Minute); err != nil || !ok {
				t.Errorf("not given: %v", err)
			}
			select {
			case <-ctx.Done():
			case <-time.After(20 * time.Second):
				t.Error("the work goes on")
			}
			return ctx.Err()
		})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
		if _, ok, err := other.TryLease(t.Context(), "billing:acc", time.Minute); err != nil || ok {
			t.Errorf("the heir's lock was ended: %v", err)
		}
	})
}

// Events that take longer than a claim stay claimed until they are settled.
func TestClaimsOfTheLivingAreKept(t *testing.T) {
	shortly(t, func(t *testing.T, s *Service, other *store.Store) {
		ctx := t.Context()
		for _, id := range []string{"evt_1", "evt_2"} {
			if _, err := s.store.AddEvent(ctx, models.StripeEvent{ID: id, Type: "invoice.paid", State: models.EventPending}); err != nil {
				t.Fatal(err)
			}
		}
		mine, err := s.store.ClaimEvents(ctx, 9, s.leaseFor, nil)
		if err != nil || len(mine) != 2 {
			t.Fatalf("%v %+v", err, mine)
		}
		claims, release := s.keepClaims(ctx, mine)
		defer release()
		claims.drop("evt_2")
		var got []models.StripeEvent
		for end := time.Now().Add(5 * s.leaseFor / 2); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
			list, err := other.ClaimEvents(ctx, 9, time.Minute, nil)
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, list...)
		}
		if len(got) != 1 || got[0].ID != "evt_2" {
			t.Errorf("another node got %+v", got)
		}
	})
}

// Customers whose events were tried least come first.
func TestFewestAttemptsFirst(t *testing.T) {
	t.Parallel()
	queues := map[string][]models.StripeEvent{"cus_a": {{Attempts: 1}, {Attempts: 9}}, "cus_b": {{Attempts: 1}}, "": {{Attempts: 4}, {Attempts: 2}}}
	if got := fmt.Sprint(byAttempts(queues)); got != "[cus_b  cus_a]" {
		t.Error(got)
	}
}

// A failed event is retried soon, and for half an hour to an hour in all: if Stripe is away for minutes, no event
// becomes a dead letter.
func TestRetriesLastAnHour(t *testing.T) {
	t.Parallel()
	all := time.Duration(0)
	for attempt := 1; attempt < mostAttempts; attempt++ {
		wait := backoff(attempt)
		if wait <= 0 || wait > lastRetry || attempt == 1 && wait > firstRetry {
			t.Errorf("after attempt %d it waits for %s", attempt, wait)
		}
		all += wait
	}
	if all < 28*time.Minute || all > time.Hour {
		t.Errorf("%d attempts in %s", mostAttempts, all)
	}
}
