package store_test

import (
	"slices"
	"strings"
	"sync"
	"testing"

	"lottery/models"
	"lottery/models/store"
	"lottery/models/store/storetest"
)

// Of programs that migrate a database at once, each reports what it applied itself: every migration once in all.
func TestMigrateTogether(t *testing.T) {
	t.Parallel()
	storetest.EachEmpty(t, func(t *testing.T, url string) {
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

// A PostgreSQL database that cannot store every name is refused before anything is made in it.
func TestEncodingThatLacksLetters(t *testing.T) {
	t.Parallel()
	url := storetest.EmptyPostgres(t)
	address, query, _ := strings.Cut(url, "?")
	latin := address + "latin?" + query
	storetest.Exec(t, url, "CREATE DATABASE "+address[strings.LastIndex(address, "/")+1:]+"latin TEMPLATE template0 ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C'")
	st, err := store.Open(t.Context(), latin, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	if err := st.Prepare(t.Context(), true); models.ErrorCode(err) != models.CodeUnavailable || !strings.Contains(err.Error(), "has the encoding LATIN1") {
		t.Errorf("%v", err)
	}
	if found := tables(t, storetest.SQL(t, latin), latin); len(found) > 0 {
		t.Errorf("it has %q", found)
	}
}
