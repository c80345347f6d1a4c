package store_test

import (
	"context"
	"testing"

	"lottery/models/store"
	"lottery/models/store/storetest"
)

func TestOverviewChangesNothing(t *testing.T) {
	t.Parallel()
	storetest.EachEmpty(t, func(t *testing.T, url string) {
		ctx := context.Background()
		st, err := store.Open(ctx, url, store.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { st.Close() })
		for range 2 {
			o, err := st.Overview(ctx)
			if err != nil || o.Current != 0 || o.Newest == 0 || len(o.Pending) != int(o.Newest) || o.DataVersion != nil || o.Draws != nil || o.Accounts != nil {
				t.Fatalf("of an empty database: %+v, %v", o, err)
			}
		}
		if err := st.Prepare(ctx, true); err != nil {
			t.Fatal(err)
		}
		manyDraws(t, st)
		storetest.Account(t, st, "ada@example.com")
		o, err := st.Overview(ctx)
		if err != nil || o.Current != o.Newest || len(o.Pending) != 0 || o.DataVersion == nil || *o.Draws != 8 || *o.Accounts != 1 || o.Demo {
			t.Fatalf("%+v, %v", o, err)
		}
	})
}
