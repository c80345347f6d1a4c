package store_test

import (
	"errors"
	"slices"
	"testing"

	"lottery/models/store"
	"lottery/models/store/storetest"
)

// PostgreSQL settings that may lose committed data are listed, wherever they were set; the tests' server has two.
func TestHealthNamesRisks(t *testing.T) {
	t.Parallel()
	storetest.EachEmpty(t, func(t *testing.T, url string) {
		postgres := store.DialectOf(url) == store.Postgres
		health := func(url string) store.Health {
			t.Helper()
			h, err := storetest.OpenURL(t, url, store.Options{}).Health(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			return h
		}
		var want []string
		if postgres {
			want = []string{"fsync off", "full_page_writes off"}
		}
		if h := health(url); !slices.Equal(h.Risks, want) {
			t.Errorf("risks %q, want %q", h.Risks, want)
		}
		if postgres {
			want = append(want, "synchronous_commit off")
			if h := health(url + "&synchronous_commit=off"); !slices.Equal(h.Risks, want) {
				t.Errorf("risks %q, want %q", h.Risks, want)
			}
		}
	})
}

// A PostgreSQL whose disk is full still makes changes that fit into its tables. Health tries one that does not.
func TestHealthNoticesAFullDisk(t *testing.T) {
	t.Parallel()
	url := storetest.EmptyPostgres(t)
	st := storetest.OpenURL(t, url, store.Options{})
	storetest.Exec(t, url, "CREATE FUNCTION full_disk() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN RAISE SQLSTATE '53100'; END $$")
	storetest.Exec(t, url, "CREATE EVENT TRIGGER full_disk ON ddl_command_start WHEN TAG IN ('CREATE TABLE AS') EXECUTE FUNCTION full_disk()")
	if h, err := st.Health(t.Context()); err != nil || !errors.Is(h.Writable, store.ErrDiskFull) {
		t.Errorf("%v, %v", h.Writable, err)
	}
}
