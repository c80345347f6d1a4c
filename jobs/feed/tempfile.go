package feed

import (
	"errors"
	"io"
	"io/fs"
	"math"
	"os"
)

// NewTempFile creates a file for what does not fit into memory. If the system allows it, the file is unlinked at once,
// so that not even kill -9 leaves it behind.
func NewTempFile(pattern string) (*os.File, error) {
	file, err := os.CreateTemp("", pattern)
	if err == nil {
		_ = os.Remove(file.Name())
	}
	return file, err
}

// CloseTempFile closes and removes a file made by NewTempFile; file may be nil.
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

// OpenTempFile returns a reader of a NewTempFile from its beginning. The file may be unlinked and so cannot be opened
// by name.
func OpenTempFile(file *os.File) io.ReadCloser {
	return io.NopCloser(io.NewSectionReader(file, 0, math.MaxInt64))
}
