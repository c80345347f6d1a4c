package admin_test

import (
	"strings"
	"testing"
	"time"

	"lottery/models/store/storetest"
)

// far is more than the doctor calls near.
const far = 100 * time.Millisecond

// A database that answers, but from far away, is reported with the time that the way takes, which is not mistaken for a
// difference of the clocks.
func TestDoctorFarFromTheDatabase(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.now = time.Time{}
	d.database = storetest.NewPostgres(t)
	d.run(0, "db", "migrate")
	d.database = storetest.PostgresAt(t, d.database, storetest.OverTCP(t, storetest.PostgresSocket(t, d.database), far))
	if out, _ := d.run(0, "doctor"); !strings.Contains(out, " ms away") || !strings.Contains(out, " 0s from PostgreSQL's") { // the tests' PostgreSQL has settings to warn of first
		t.Error(out)
	}
}

// So is a Redis.
func TestDoctorFarFromRedis(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.now = time.Time{}
	d.run(0, "db", "migrate")
	d.redis = "redis://" + storetest.OverTCP(t, storetest.NewRedis(t).Socket(), far)
	if out, _ := d.run(0, "doctor"); !strings.Contains(out, " ms away") || !strings.Contains(out, "nearer to Redis") || !strings.Contains(out, " 0s from Redis's") {
		t.Error(out)
	}
}
