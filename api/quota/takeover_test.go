package quota_test

import (
	"strconv"
	"testing"

	"lottery/api/quota"
	"lottery/models/store"
	"lottery/models/store/storetest"
)

// A PostgreSQL replaced by a standby that lacked the last commits is told what the nodes know, even of accounts that
// get no more requests there: no day starts anew, and nobody is refused early.
func TestPostgresIsToldByThoseWhoKnow(t *testing.T) {
	t.Parallel()
	storetest.AwayFromMidnight(t)
	srv := storetest.NewPostgresServer(t)
	address := srv.NewDatabase(t)
	node := func() *watched {
		return watch(t, storetest.OpenURL(t, address, store.Options{}), quota.Options{Advance: true, Replaceable: true})
	}
	first, second := node(), node()
	const limit, accounts = 256, 20
	served := make([]int64, accounts)
	each := func(n *watched, requests int) {
		for i := range served {
			served[i] += n.burst(t, strconv.Itoa(i), requests, 4, limit)
		}
	}
	recovered := func() { // until then, requests are admitted from memory
		t.Helper()
		for _, n := range []*watched{first, second} {
			storetest.Until(t, "recovery", func() bool { return !n.Away() })
		}
	}
	each(first, 50)
	srv.Keep(t)
	recovered()
	each(second, 20)
	each(first, 100)

	srv.TakeOver(t)
	l := storetest.OpenURL(t, address, store.Options{})
	for i := range served {
		storetest.Until(t, "counter "+strconv.Itoa(i)+" to be told", func() bool { return counted(t, l, strconv.Itoa(i)) == served[i] })
	}
	recovered()
	each(second, limit) // the second node never knew of the first one's last requests
	each(first, 5)
	for i, n := range served {
		if n != limit {
			t.Errorf("account %d was served %d of %d", i, n, limit)
		}
	}
	closeNode(t, first.Store)
	closeNode(t, second.Store)
}
