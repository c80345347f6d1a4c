// Package migrations holds the numbered schema changes, a folder a dialect, run by goose.
//
// Files are append-only: what has been released is never edited. Changes only expand, so that old and
// new nodes run side by side during an upgrade. One that does break older binaries must also raise
// meta.oldest_schema to its own number: a binary refuses a database whose oldest_schema it does not know.
package migrations

import (
	"embed"
	"io/fs"
)

//go:embed sqlite/*.sql postgres/*.sql
var files embed.FS

// For is the migrations of a dialect, "sqlite" or "postgres".
func For(dialect string) fs.FS {
	sub, err := fs.Sub(files, dialect)
	if err != nil {
		panic(err) // only for a name that is not embedded: a programming error
	}
	return sub
}
