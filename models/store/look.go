package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
)

// OpenToLook opens the database at databaseURL for Overview and NotTooNew. Unlike Open it leaves a SQLite file that has no
// write-ahead log, such as a backup, as it is to the byte, and needs no right to write it.
func OpenToLook(ctx context.Context, databaseURL string, opts Options) (*Store, error) {
	path, ok := sqlitePath(databaseURL)
	if !ok {
		return Open(ctx, databaseURL, opts)
	}
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return Open(ctx, databaseURL, opts) // which says what is wrong
	}
	logs, err := keepsLog(path)
	if err != nil {
		return nil, fmt.Errorf("open the database: %w", err)
	}
	if logs { // to be read it needs its log, which nobody would take away again
		return Open(ctx, databaseURL, opts)
	}
	s, err := openReadOnly(ctx, path)
	if err != nil {
		return nil, err
	}
	s.write = s.read
	return s, nil
}

// keepsLog tells whether a SQLite file is written by way of a write-ahead log (https://sqlite.org/fileformat.html, 1.3.3).
func keepsLog(path string) (bool, error) {
	const version, wal = 18, 2
	file, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer file.Close() //nolint:errcheck // only read
	var b [1]byte
	_, err = file.ReadAt(b[:], version)
	if errors.Is(err, io.EOF) { // nothing was ever put into it
		return false, nil
	}
	return b[0] == wal, err
}
