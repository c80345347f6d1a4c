package store

import (
	"fmt"
	"testing"
)

// If there were too many counters, dropped ones are queried again one by one: they are neither taken for
// zero nor all read again.
func TestKnownCountersAreTooMany(t *testing.T) {
	t.Parallel()
	const today = 86_400
	key := func(i int) counterKey { return counterKey{fmt.Sprintf("acc_%d", i), today} }
	n := knownCounters{whole: true, since: today, asked: allAsked}
	for i := range 10 {
		n.counter(key(i)).used = int64(i)
	}
	if _, known := n.find(key(11)); !known {
		t.Fatal("all of the day are known, and one that is not among them is not zero")
	}
	n.shrink(func(c *counter) bool { return c.used >= 8 })
	for i := range 12 {
		if place, known := n.find(key(i)); known != (i == 8 || i == 9) || known && n.list[place].used != int64(i) {
			t.Errorf("counter %d: known %v", i, known)
		}
	}
	if n.wantAll(2 * askedSingly) {
		t.Error("all are read again")
	}
}
