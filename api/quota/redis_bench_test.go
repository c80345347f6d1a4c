package quota_test

import (
	"fmt"
	"testing"
	"time"

	"lottery/api/quota"
	"lottery/models/store"
	"lottery/models/store/storetest"
)

// BenchmarkRedisContact measures one contact with Redis that serves the given number of 10,000 accounts.
func BenchmarkRedisContact(b *testing.B) {
	r, err := quota.OpenRedis(storetest.NewRedis(b).URL(), nil)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { r.Close() })
	next := 0
	for _, accounts := range []int{1, 10, 30} {
		b.Run(fmt.Sprintf("accounts=%d", accounts), func(b *testing.B) {
			for b.Loop() {
				ops := make([]store.QuotaOp, accounts)
				for i := range ops {
					key := fmt.Sprintf("acc_%016x", uint64(next)*0x9e3779b97f4a7c15)
					ops[i] = store.QuotaOp{Kind: store.QuotaTake, Key: key, Period: 24 * time.Hour, Need: 1, Limit: 10_000_000}
					next = (next + 1) % 10_000
				}
				if _, _, err := r.ApplyQuota(b.Context(), ops); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*accounts), "ns/account")
		})
	}
}
