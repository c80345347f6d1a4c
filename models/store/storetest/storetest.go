// Package storetest opens real databases for tests: always SQLite, and PostgreSQL if it is installed.
package storetest

import (
	"context"
	"path/filepath"
	"testing"

	"lottery/models/store"
)

// URL returns the address of a new SQLite database, whose file does not exist yet.
func URL(t testing.TB) string {
	t.Helper()
	return "sqlite:" + filepath.Join(t.TempDir(), "lottery.db")
}

// Open returns a new SQLite store with the product's games and nothing else.
func Open(t testing.TB) *store.Store {
	t.Helper()
	return OpenURL(t, URL(t), store.Options{})
}

// OpenURL opens and prepares the database at url, and closes it when the test ends.
func OpenURL(t testing.TB, url string, opts store.Options) *store.Store {
	t.Helper()
	st, err := store.Open(context.Background(), url, opts)
	if err != nil {
		t.Fatalf("open the store: %v", err)
	}
	t.Cleanup(func() {
		if err := st.Close(); err != nil {
			t.Errorf("close the store: %v", err)
		}
	})
	if err := st.Prepare(context.Background(), true); err != nil {
		t.Fatalf("prepare the store: %v", err)
	}
	return st
}

// Each runs test on a new store of each kind of database.
func Each(t *testing.T, test func(t *testing.T, st *store.Store)) {
	t.Helper()
	EachURL(t, func(t *testing.T, url string) {
		t.Helper()
		test(t, OpenURL(t, url, store.Options{}))
	})
}

// EachURL runs test with the address of a new, empty database of each kind.
func EachURL(t *testing.T, test func(t *testing.T, url string)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) { test(t, URL(t)) })
	t.Run("postgres", func(t *testing.T) { test(t, NewPostgres(t)) })
}
