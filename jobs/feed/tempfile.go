package feed

import (
	"errors"
	"io"
	"io/fs"
	"math"
	"os"
)

// NewTempFile is a file for what memory has no room for. Where the system allows it it has no name any more, so that not
// even kill -9 leaves it behind.
func NewTempFile(pattern string) (*os.File, error) {
	file, err := os.CreateTemp("", pattern)
	if err == nil {
		_ = os.Remove(file.Name())
	}
	return file, err
}

// CloseTempFile closes and removes a file of NewTempFile; nil is none.
func CloseTempFile(file *os.File) error {
	if file == nil {
		return nil
	}
	err := file.Close()
	if removed := os.Remove(file.Name()); removed != nil && !errors.Is(removed, fs.ErrNotExist) {
		err = errors.Join(err, removed)
	}
	return err
}

// OpenTempFile reads a file of NewTempFile from its beginning. What has no name cannot be opened again by it.
func OpenTempFile(file *os.File) io.ReadCloser {
	return io.NopCloser(io.NewSectionReader(file, 0, math.MaxInt64))
}
