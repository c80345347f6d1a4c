package quota_test

import (
	"testing"

	"lottery/api/quota"
	"lottery/models/store/storetest"
)

// A contact with Redis is given up after 2 seconds, and its connection with it. If a new connection took longer than
// that to a distant Redis, no contact would ever succeed, and each node would count for itself.
func TestRoundTripsToANewRedis(t *testing.T) {
	t.Parallel()
	address, trips := storetest.CountRoundTrips(t, storetest.NewRedis(t).Socket())
	r, err := quota.OpenRedis("redis://"+address, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, _, err := r.ApplyQuota(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if n := trips.Load(); n > 4 { // HELLO, INFO, and the script, by its hash and then in full
		t.Errorf("the first contact took %d round trips", n)
	}
}
