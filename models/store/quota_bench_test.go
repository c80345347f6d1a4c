package store_test

import (
	"fmt"
	"testing"

	"lottery/models/store"
	"lottery/models/store/storetest"
)

// BenchmarkQuotaContact measures one contact with the counters that serves a number of 100,000 accounts; on SQLite this
// includes its share of compacting the log.
func BenchmarkQuotaContact(b *testing.B) {
	const all = 100_000
	keys := make([]string, all)
	for i := range keys {
		keys[i] = fmt.Sprintf("acc_%016x", uint64(i)*0x9e3779b97f4a7c15)
	}
	for _, database := range []struct {
		name string
		url  func(testing.TB) string
	}{{"sqlite", storetest.URL}, {"postgres", storetest.NewPostgres}} {
		for _, accounts := range []int{1, 10, 30} {
			b.Run(fmt.Sprintf("%s/accounts=%d", database.name, accounts), func(b *testing.B) {
				st := storetest.OpenURL(b, database.url(b), store.Options{})
				next := 0
				contact := func(n int) {
					ops := make([]store.QuotaOp, n)
					for i := range ops {
						ops[i] = taking(keys[next], 1, 10_000_000)
						next = (next + 1) % all
					}
					if _, _, err := st.ApplyQuota(b.Context(), ops); err != nil {
						b.Fatal(err)
					}
				}
				for range all / 500 {
					contact(500)
				}
				b.ReportAllocs()
				for b.Loop() {
					contact(accounts)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*accounts), "ns/account")
			})
		}
	}
}
