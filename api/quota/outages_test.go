package quota_test

import (
	"strings"
	"testing"

	"lottery/api/quota"
	"lottery/models/store/storetest"
)

// Each outage is logged with its reason, even if one follows another: both ends are, so the log would otherwise tell of
// a recovery from nothing.
func TestEachOutageIsLogged(t *testing.T) {
	t.Parallel()
	srv := storetest.NewRedis(t)
	admin := srv.Client(t)
	n := watch(t, openRedis(t, srv), quota.Options{Volatile: true})
	defer closeNode(t, n.Store)
	for outage := 1; outage <= 2; outage++ {
		for _, memory := range []string{"1", "0"} { // too little to count, and no limit
			if err := admin.ConfigSet(t.Context(), "maxmemory", memory).Err(); err != nil {
				t.Fatal(err)
			}
			n.burst(t, "acc", 1, 1, 100)
			storetest.Until(t, "outage or recovery", func() bool { return n.Away() == (memory == "1") })
		}
		log := n.log.String()
		if begins, ends := strings.Count(log, "do not answer"), strings.Count(log, "answer again"); begins != outage || ends != outage {
			t.Errorf("after %d outages, the log tells of %d, and of the ends of %d", outage, begins, ends)
		}
	}
}
