package quota_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"lottery/api/quota"
	"lottery/models/store"
	"lottery/models/store/storetest"
)

// A Redis user who lacks one of the commands needed for counting counts nothing, however often it is tried, and Health
// reports it. Once the command is granted, counting works as if nothing had happened.
func TestRedisUserWithFewRights(t *testing.T) {
	t.Parallel()
	storetest.AwayFromMidnight(t)
	srv := storetest.NewRedis(t)
	admin := srv.Client(t)
	may := func(rules ...any) {
		t.Helper()
		all := append([]any{"ACL", "SETUSER", "few", "on", ">secret", "~" + quota.RedisPrefix + "*"}, rules...)
		if err := admin.Do(t.Context(), all...).Err(); err != nil {
			t.Fatal(err)
		}
	}
	may("+eval", "+evalsha", "+time", "+get", "+set", "+incrby", "+decrby", "+expireat")
	blind, err := quota.OpenRedis("unix://few:secret@"+srv.Socket(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer blind.Close()
	if h, err := blind.Health(t.Context()); err != nil || h.Writable != nil || len(h.Risks) != 1 || !strings.Contains(h.Risks[0], "INFO") {
		t.Errorf("without INFO: %+v %v", h, err)
	}
	all := []any{"+eval", "+evalsha", "+time", "+info", "+get", "+set", "+incrby", "+decrby", "+expireat"}
	take := []store.QuotaOp{{Kind: store.QuotaTake, Key: "acc", Period: quota.Day, Need: 1, Limit: 2}}
	back := []store.QuotaOp{{Kind: store.QuotaPeek, Key: "acc", Period: quota.Day}}
	for _, lacks := range []string{"-eval", "-time", "-get", "-set", "-incrby", "-decrby", "-expireat"} {
		if err := admin.ScriptFlush(t.Context()).Err(); err != nil { // EVAL is used only until the script is cached
			t.Fatal(err)
		}
		may(append(all, lacks)...)
		r, err := quota.OpenRedis("unix://few:secret@"+srv.Socket(), nil)
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			if results, _, err := r.ApplyQuota(t.Context(), take); err == nil {
				t.Errorf("%s: %+v", lacks, results)
			}
		}
		if h, err := r.Health(t.Context()); err == nil && h.Writable == nil {
			t.Errorf("%s: Health finds nothing", lacks)
		}
		may(all...)
		results, _, err := r.ApplyQuota(t.Context(), take)
		if err != nil || results[0].Granted != 1 || results[0].Used != 1 {
			t.Errorf("%s, and mended: %+v %v", lacks, results, err)
		}
		if h, err := r.Health(t.Context()); err != nil || h.Writable != nil {
			t.Errorf("%s, and mended: %+v %v", lacks, h, err)
		}
		if results, _, err := r.ApplyQuota(t.Context(), back); err != nil || results[0].Used != 1 {
			t.Errorf("%s: a look: %+v %v", lacks, results, err)
		}
		// Rights removed while it counts: what was begun may be counted once, and the error must
		// not claim that nothing was.
		if _, _, err := r.ApplyQuota(t.Context(), take); err != nil {
			t.Error(err)
		}
		may("-decrby")
		for i := range 5 {
			if _, _, err := r.ApplyQuota(t.Context(), take); err == nil || (i == 0) != errors.Is(err, store.ErrQuotaUnclear) {
				t.Errorf("without DECRBY, for the %d. time: %v", i+1, err)
			}
		}
		may(all...)
		if results, _, err := r.ApplyQuota(t.Context(), back); err != nil || results[0].Used > 3 {
			t.Errorf("%s: five refused takes left %+v %v", lacks, results, err)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
		if err := admin.FlushAll(t.Context()).Err(); err != nil {
			t.Fatal(err)
		}
	}
}

// The rights that the documents tell an operator to give are enough, whichever database number redis_url has.
func TestRedisUserWithDocumentedRights(t *testing.T) {
	t.Parallel()
	docs, err := os.ReadFile("../../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(docs), "**Rights**: a user of its own needs `")
	rights, _, closed := strings.Cut(rest, "`")
	if !found || !closed {
		t.Fatal("docs/operations.md names no rights")
	}
	srv := storetest.NewRedis(t)
	admin := srv.Client(t)
	rule := []any{"ACL", "SETUSER", "lottery", "on", ">secret", "~" + quota.RedisPrefix + "*"}
	for right := range strings.FieldsSeq(rights) {
		rule = append(rule, right)
	}
	if err := admin.Do(t.Context(), rule...).Err(); err != nil {
		t.Fatal(err)
	}
	for _, number := range []string{"0", "1"} {
		r, err := quota.OpenRedis("unix://lottery:secret@"+srv.Socket()+"?db="+number, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		if h, err := r.Health(t.Context()); err != nil || h.Writable != nil {
			t.Errorf("database %s: %+v %v", number, h, err)
		}
		take := []store.QuotaOp{{Kind: store.QuotaTake, Key: "acc", Period: quota.Day, Need: 1, Limit: 2}}
		if results, _, err := r.ApplyQuota(t.Context(), take); err != nil || results[0].Used != 1 { // each number counts for itself
			t.Errorf("database %s: %+v %v", number, results, err)
		}
	}
}

// A Redis Cluster is refused before it counts anything: some of its nodes would count single accounts correctly.
func TestRedisCluster(t *testing.T) {
	t.Parallel()
	srv := storetest.NewRedis(t, "--cluster-enabled", "yes")
	admin := srv.Client(t)
	if err := admin.ClusterAddSlotsRange(t.Context(), 0, 16383).Err(); err != nil {
		t.Fatal(err)
	}
	storetest.Until(t, "the cluster to serve", func() bool { return admin.Set(t.Context(), "x", 1, 0).Err() == nil })
	r := openRedis(t, srv)
	if _, err := r.Health(t.Context()); err == nil || !strings.Contains(err.Error(), "Redis Cluster") {
		t.Errorf("health: %v", err)
	}
	_, _, err := r.ApplyQuota(t.Context(), []store.QuotaOp{{Kind: store.QuotaTake, Key: "acc", Period: quota.Day, Need: 1, Limit: 2}})
	if err == nil || !strings.Contains(err.Error(), "Redis Cluster") || errors.Is(err, store.ErrQuotaUnclear) {
		t.Errorf("counting: %v", err)
	}
}
