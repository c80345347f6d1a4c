package store_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"lottery/models"
	"lottery/models/store"
	"lottery/models/store/storetest"
)

func row(account string, day models.Date, endpoint string, class int, n int64) models.UsageDay {
	return models.UsageDay{AccountID: account, Day: day, Endpoint: endpoint, Class: class, Requests: n}
}

func addUsage(t *testing.T, st *store.Store, rows ...models.UsageDay) {
	t.Helper()
	if err := st.AddUsage(context.Background(), rows); err != nil {
		t.Fatal(err)
	}
}

var march = models.NewDate(2026, time.March, 1)

func TestUsageAddsUp(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		ctx := context.Background()
		addUsage(t, st)
		addUsage(t, st,
			row("b", march, "/v1/stats", 2, 7), row("a", march, "/v1/stats", 2, 1), row("a", march+2, "/v1/games", 2, 5),
			row("a", march, "/v1/stats", 2, 2), row("a", march, "/v1/stats", 4, 1))
		addUsage(t, st, row("a", march, "/v1/stats", 2, 10), row("a", march-1, "/v1/stats", 2, 100))

		days, err := st.UsageByDay(ctx, "a", march, march+2)
		if want := []store.DayUsage{{Day: march + 2, Requests: 5}, {Day: march, Requests: 14}}; err != nil || !reflect.DeepEqual(days, want) {
			t.Errorf("by day: %v, %v; want %v", days, err, want)
		}
		endpoints, err := st.UsageByEndpoint(ctx, "a", march, march+2)
		want := []store.EndpointUsage{{Endpoint: "/v1/stats", Class: 2, Requests: 13}, {Endpoint: "/v1/games", Class: 2, Requests: 5}, {Endpoint: "/v1/stats", Class: 4, Requests: 1}}
		if err != nil || !reflect.DeepEqual(endpoints, want) {
			t.Errorf("by endpoint: %v, %v; want %v", endpoints, err, want)
		}
		if days, err := st.UsageByDay(ctx, "nobody", march, march+2); err != nil || len(days) != 0 {
			t.Errorf("of nobody: %v, %v", days, err)
		}
	})
}

func TestCountedToday(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		ctx := context.Background()
		now := time.Now().UTC()
		if used, today, err := st.CountedToday(ctx, "a"); err != nil || used != 0 || today < models.DateOf(now) || today > models.DateOf(now)+1 {
			t.Errorf("of nobody: %d on %s, %v", used, today, err)
		}
		take := taking("a", 7, 100)
		granted, _, err := st.ApplyQuota(ctx, []store.QuotaOp{take})
		if err != nil {
			t.Fatal(err)
		}
		used, today, err := st.CountedToday(ctx, "a")
		if midnight := today.Time().Unix() != granted[0].Start; err != nil || (used != 7 && !midnight) {
			t.Errorf("%d on %s, %v", used, today, err)
		}
	})
}

func TestUsageTop(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		ctx := context.Background()
		a := storetest.Account(t, st, "a@example.com")
		gone := storetest.Account(t, st, "gone@example.com")
		if _, err := st.DeleteAccount(ctx, gone.ID); err != nil {
			t.Fatal(err)
		}
		addUsage(t, st, row(a.ID, march, "/v1/stats", 2, 3), row(a.ID, march, "/v1/games", 4, 3), row(a.ID, march+1, "/v1/games", 2, 99),
			row(gone.ID, march, "/v1/games", 2, 5), row("unheard-of", march, "/v1/games", 2, 1))
		top, err := st.UsageTop(ctx, march, 2)
		if err != nil || len(top) != 2 || top[0].Account.ID != a.ID || top[0].Requests != 6 || *top[0].Account.Email != "a@example.com" ||
			top[1].Account.ID != gone.ID || top[1].Requests != 5 || top[1].Account.Email != nil {
			t.Errorf("%+v, %v", top, err)
		}
		if top, err = st.UsageTop(ctx, march, 10); err != nil || len(top) != 3 || top[2].Account.ID != "unheard-of" {
			t.Errorf("%+v, %v", top, err)
		}
	})
}

// Nodes that add to the same rows, named in different orders, neither lose a count nor deadlock.
func TestUsageOfManyNodes(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		const nodes, times, accounts = 4, 10, 30
		var group sync.WaitGroup
		for node := range nodes {
			group.Go(func() {
				for range times {
					var rows []models.UsageDay
					for i := range accounts {
						if node%2 == 1 {
							i = accounts - 1 - i
						}
						rows = append(rows, row(string(rune('a'+i)), march, "/v1/games", 2, 1))
					}
					if err := st.AddUsage(context.Background(), rows); err != nil {
						t.Error(err)
					}
				}
			})
		}
		group.Wait()
		top, err := st.UsageTop(context.Background(), march, 100)
		if err != nil || len(top) != accounts {
			t.Fatalf("%d accounts, %v", len(top), err)
		}
		for _, a := range top {
			if a.Requests != nodes*times {
				t.Errorf("%s has %d, want %d", a.Account.ID, a.Requests, nodes*times)
			}
		}
	})
}

func TestWarnUsageOnce(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		var firsts atomic.Int64
		var group sync.WaitGroup
		for range 8 {
			group.Go(func() {
				first, err := st.WarnUsage(context.Background(), "a", models.QuotaUsed{Day: march, Percent: 80}, false)
				if err != nil {
					t.Error(err)
				}
				if first {
					firsts.Add(1)
				}
			})
		}
		group.Wait()
		if firsts.Load() != 1 {
			t.Errorf("%d were first", firsts.Load())
		}
		for _, other := range []struct {
			account string
			day     models.Date
			percent int
		}{{"a", march, 100}, {"a", march + 1, 80}, {"b", march, 80}} {
			if first, err := st.WarnUsage(context.Background(), other.account, models.QuotaUsed{Day: other.day, Percent: other.percent}, false); err != nil || !first {
				t.Errorf("%v: %v, %v", other, first, err)
			}
		}
	})
}

func TestPruneUsage(t *testing.T) {
	t.Parallel()
	storetest.EachURL(t, func(t *testing.T, url string) {
		ahead := time.Until((march + models.UsageKept).Time().Add(aDay / 2))
		st := storetest.OpenURL(t, url, store.Options{
			Now: func() time.Time { return time.Now().Add(ahead) }, Skew: func() time.Duration { return ahead },
		})
		ctx := context.Background()
		var rows []models.UsageDay
		for i := range 1200 { // more than one call deletes; the keys' order is not that of the days
			rows = append(rows, row(fmt.Sprintf("a%04d", i), march-1-models.Date(i), "/v1/games", 2, 1))
		}
		addUsage(t, st, append(rows, row("a", march, "/v1/games", 2, 1))...)
		for _, day := range []models.Date{march - 1, march} {
			if _, err := st.WarnUsage(ctx, "a", models.QuotaUsed{Day: day, Percent: 80}, false); err != nil {
				t.Fatal(err)
			}
		}
		calls := 1
		for ; calls < 10; calls++ {
			more, err := st.PruneUsage(ctx)
			if err != nil {
				t.Fatal(err)
			}
			if !more {
				break
			}
			for i, left := range map[int]bool{1200 - 500*calls - 1: true, 1200 - 500*calls: false} { // the oldest go first
				days, err := st.UsageByDay(ctx, fmt.Sprintf("a%04d", i), march-2000, march)
				if err != nil || len(days) == 1 != left {
					t.Errorf("%d days old, after %d calls: %v, %v", i, calls, days, err)
				}
			}
		}
		if calls != 3 {
			t.Errorf("%d calls", calls)
		}
		days, err := st.UsageByDay(ctx, "a", march-2000, march)
		if err != nil || len(days) != 1 || days[0].Day != march {
			t.Errorf("left: %v, %v", days, err)
		}
		if days, err := st.UsageByDay(ctx, "a0000", march-2000, march); err != nil || len(days) != 0 {
			t.Errorf("the newest that expired: %v, %v", days, err)
		}
		for day, left := range map[models.Date]bool{march - 1: false, march: true} {
			if first, err := st.WarnUsage(ctx, "a", models.QuotaUsed{Day: day, Percent: 80}, false); err != nil || first == left {
				t.Errorf("the warning of %s: first %v, %v", day, first, err)
			}
		}
	})
}

func TestUsageOfADatabaseThatIsAway(t *testing.T) {
	t.Parallel()
	server := storetest.NewPostgresServer(t)
	st := storetest.OpenURL(t, server.NewDatabase(t), store.Options{})
	server.Stop()
	err := st.AddUsage(context.Background(), []models.UsageDay{row("a", march, "/v1/games", 2, 1)})
	if models.ErrorCode(err) != models.CodeUnavailable || errors.Is(err, store.ErrUsageUnclear) {
		t.Errorf("%v", err)
	}
	if _, err := st.UsageByDay(context.Background(), "a", march, march); models.ErrorCode(err) != models.CodeUnavailable {
		t.Errorf("%v", err)
	}
}
