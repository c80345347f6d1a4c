package store_test

import (
	"slices"
	"sync"
	"testing"

	"lottery/models/store"
	"lottery/models/store/storetest"
)

// Of programs that migrate a database at once, each reports what it applied itself: every migration once in all.
func TestMigrateTogether(t *testing.T) {
	t.Parallel()
	storetest.EachURL(t, func(t *testing.T, url string) {
		const programs = 4
		stores := make([]*store.Store, programs)
		for i := range stores {
			var err error
			if stores[i], err = store.Open(t.Context(), url, store.Options{}); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = stores[i].Close() })
		}
		want, err := stores[0].Overview(t.Context())
		if err != nil || len(want.Pending) == 0 {
			t.Fatalf("%+v, %v", want, err)
		}
		applied := make([][]string, programs)
		var wg sync.WaitGroup
		for i, st := range stores {
			wg.Go(func() {
				var err error
				if applied[i], err = st.Migrate(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		all := slices.Concat(applied...)
		slices.Sort(all)
		if !slices.Equal(all, want.Pending) {
			t.Errorf("%q were applied of %q", applied, want.Pending)
		}
	})
}
