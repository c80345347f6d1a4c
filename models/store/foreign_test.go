package store_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lottery/models"
	"lottery/models/store"
	"lottery/models/store/storetest"
)

// A mistyped path must neither put this product's tables into another program's file nor change its journal mode.
func TestFileOfAnotherProgram(t *testing.T) {
	t.Parallel()
	for name, schema := range map[string]string{
		"its tables":         "CREATE TABLE dashboards (id INTEGER PRIMARY KEY)",
		"tables named alike": "CREATE TABLE accounts (id INTEGER); CREATE TABLE draws (id INTEGER)",
		"its own migrations": "CREATE TABLE schema_migrations (version TEXT PRIMARY KEY)",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "other.db")
			storetest.Exec(t, "sqlite:"+path, schema)
			before, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			_, err = store.Open(t.Context(), "sqlite:"+path, store.Options{})
			if models.ErrorCode(err) != models.CodeConflict || !strings.HasPrefix(err.Error(), path+" is a database of another program") {
				t.Errorf("%v", err)
			}
			if after, err := os.ReadFile(path); err != nil || string(after) != string(before) {
				t.Errorf("it was changed: %v", err)
			}
		})
	}
}

// In PostgreSQL, other programs may have tables next to ours, except with our names.
func TestDatabaseOfAnotherProgram(t *testing.T) {
	t.Parallel()
	for schema, foreign := range map[string]bool{
		"CREATE TABLE dashboards (id int)":                                 false,
		"CREATE TABLE schema_migrations (version bigint, dirty boolean)":   true,
		"CREATE TABLE accounts (id int)":                                   true,
		"CREATE SCHEMA other CREATE TABLE schema_migrations (version int)": false,
	} {
		t.Run(schema, func(t *testing.T) {
			t.Parallel()
			address := storetest.EmptyPostgres(t)
			storetest.Exec(t, address, schema)
			st, err := store.Open(t.Context(), address, store.Options{})
			if err == nil {
				t.Cleanup(func() { _ = st.Close() })
				err = st.Prepare(t.Context(), true)
			}
			if (err != nil) != foreign || foreign && (models.ErrorCode(err) != models.CodeConflict || !strings.Contains(err.Error(), "is a database of another program")) {
				t.Errorf("%v", err)
			}
		})
	}
}
