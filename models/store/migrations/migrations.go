// Package migrations holds the numbered schema changes, one folder per dialect, which goose runs.
//
// Files are append-only: a released one is never edited. Changes only expand the schema, so that old and new nodes can
// run side by side during an upgrade. One that breaks older binaries must also raise meta.oldest_schema to its own
// number: a binary refuses a database whose oldest_schema it does not know.
package migrations

import (
	"embed"
	"io/fs"
)

//go:embed sqlite/*.sql postgres/*.sql
var files embed.FS

// For returns the migrations of a dialect, "sqlite" or "postgres".
func For(dialect string) fs.FS {
	sub, err := fs.Sub(files, dialect)
	if err != nil {
		panic(err) // only for an unknown dialect: a programming error
	}
	return sub
}
