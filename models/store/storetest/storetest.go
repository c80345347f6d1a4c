// Package storetest gives tests real databases: SQLite, and private PostgreSQL and Redis servers if they are installed. It
// does to them what the product does not: locks, statements of an operator's, and links that are slow, lossy or silent;
// and it waits for what comes of it.
package storetest

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"lottery/models"
	"lottery/models/store"
)

// prepared is the file of a SQLite database with the schema and the product's games.
var prepared = sync.OnceValues(func() ([]byte, error) {
	dir, err := makeFolder()
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "prepared.db")
	if err := prepare("sqlite:" + file); err != nil {
		return nil, err
	}
	return os.ReadFile(file)
})

// prepare gives an empty database the schema and the product's games.
func prepare(url string) error {
	st, err := store.Open(context.Background(), url, store.Options{})
	if err != nil {
		return err
	}
	return errors.Join(st.Prepare(context.Background(), true), st.Close())
}

// URL returns the address of a new SQLite database with the schema and the product's games: to copy them takes a tenth
// of the time of making them.
func URL(t testing.TB) string {
	t.Helper()
	content, err := prepared()
	if err != nil {
		t.Fatalf("make a database: %v", err)
	}
	url := EmptyURL(t)
	if err := os.WriteFile(strings.TrimPrefix(url, "sqlite:"), content, 0o600); err != nil {
		t.Fatal(err)
	}
	return url
}

// EmptyURL returns the address of a new SQLite database, whose file does not exist yet.
func EmptyURL(t testing.TB) string {
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

// EachURL runs test with the address of a new database of each kind, with the schema and the product's games.
func EachURL(t *testing.T, test func(t *testing.T, url string)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) { test(t, URL(t)) })
	t.Run("postgres", func(t *testing.T) { test(t, NewPostgres(t)) })
}

// EachEmpty is EachURL with empty databases.
func EachEmpty(t *testing.T, test func(t *testing.T, url string)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) { test(t, EmptyURL(t)) })
	t.Run("postgres", func(t *testing.T) { test(t, EmptyPostgres(t)) })
}

// Account makes an account.
func Account(t testing.TB, st *store.Store, email string) models.Account {
	t.Helper()
	a, err := st.CreateAccount(context.Background(), store.NewAccount{Email: email})
	if err != nil {
		t.Fatalf("make an account: %v", err)
	}
	return a
}

// Key makes a key of an account, and the account where there is none.
func Key(t testing.TB, st *store.Store, email string) store.Key {
	t.Helper()
	k, err := st.CreateKey(context.Background(), models.DefaultPlans(), store.NewKey{Account: email, Create: true})
	if err != nil {
		t.Fatalf("make a key: %v", err)
	}
	return k
}
