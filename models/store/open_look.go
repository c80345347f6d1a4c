package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
)

// OpenToLook opens the database at databaseURL for Overview and NotTooNew. Unlike Open it leaves a SQLite file without
// a write-ahead log, such as a backup, byte for byte as it is, and needs no right to write it.
func OpenToLook(ctx context.Context, databaseURL string, opts Options) (*Store, error) {
	path, ok := SQLiteFile(databaseURL)
	if !ok {
		return Open(ctx, databaseURL, opts)
	}
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return Open(ctx, databaseURL, opts) // reports what is wrong
	}
	logs, err := keepsLog(path)
	if err != nil {
		return nil, fmt.Errorf("open the database: %w", err)
	}
	if logs { // reading it needs its log, which nobody would remove afterwards
		return Open(ctx, databaseURL, opts)
	}
	s, err := openReadOnly(ctx, path)
	if err != nil {
		return nil, err
	}
	s.write = s.read
	return s, nil
}

// keepsLog reports whether a SQLite file uses a write-ahead log (https://sqlite.org/fileformat.html, 1.3.3).
func keepsLog(path string) (bool, error) {
	const version, wal = 18, 2
	file, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer file.Close() //nolint:errcheck // only read
	var b [1]byte
	_, err = file.ReadAt(b[:], version)
	if errors.Is(err, io.EOF) { // an empty file
		return false, nil
	}
	return b[0] == wal, err
}
