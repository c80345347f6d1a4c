package store_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"lottery/models/store"
	"lottery/models/store/storetest"
)

func TestInspectDraws(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		manyDraws(t, st)
		var list []string
		take := func(d *store.StoredDraw) error {
			list = append(list, fmt.Sprintf("%s %s %s %d %s", d.GameID, d.Date, d.Tod, d.Sequence, d.Number))
			return nil
		}
		if err := st.InspectDraws(context.Background(), "nc-pick-3", take); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(list, "|"); got != "nc-pick-3 2020-01-02 Day 1 001|nc-pick-3 2020-01-02 Day 2 002|nc-pick-3 2020-01-03 Evening 1 003" {
			t.Errorf("%s", got)
		}
		list = nil
		if err := st.InspectDraws(context.Background(), "", take); err != nil || len(list) != 8 {
			t.Errorf("%d rows, %v", len(list), err)
		}
	})
}
