package importer

import (
	"maps"
	"strconv"
	"testing"

	"lottery/jobs/feed"
	"lottery/models"
)

// Sets of add-ons keep their number, however many there are, and whatever the order of their names.
func TestAddonTable(t *testing.T) {
	t.Parallel()
	table := newAddonTable()
	const sets = 20_000 // grows the table seven times; a twentieth of them and more begin where another is
	list := func(i int, turned bool) []feed.Addon {
		l := []feed.Addon{{Name: "bonus", Value: strconv.Itoa(i % 7)}, {Name: "fireball", Value: strconv.Itoa(i)}}
		if turned {
			l[0], l[1] = l[1], l[0]
		}
		return l
	}
	if n := table.number(nil); n != 0 {
		t.Fatalf("no add-ons are set %d", n)
	}
	for i := range sets {
		if n := table.number(list(i, false)); int(n) != i+1 {
			t.Fatalf("new set %d is told to be set %d", i+1, n)
		}
	}
	for i := range sets {
		if n := table.number(list(i, true)); int(n) != i+1 {
			t.Fatalf("set %d is found as %d", i+1, n)
		}
		want := models.Addons{"bonus": strconv.Itoa(i % 7), "fireball": strconv.Itoa(i)}
		if got := table.addons(uint32(i + 1)); !maps.Equal(got, want) {
			t.Fatalf("set %d is %v, want %v", i+1, got, want)
		}
	}
}
