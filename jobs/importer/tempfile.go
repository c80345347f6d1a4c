package importer

import (
	"errors"
	"io/fs"
	"os"
)

// newTempFile is a file for what memory has no room for. Where the system allows it it has no name any more, so that not
// even kill -9 leaves it behind.
func newTempFile(pattern string) (*os.File, error) {
	file, err := os.CreateTemp("", pattern)
	if err == nil {
		_ = os.Remove(file.Name())
	}
	return file, err
}

// closeTempFile closes and removes a file of newTempFile; nil is none.
func closeTempFile(file *os.File) error {
	if file == nil {
		return nil
	}
	err := file.Close()
	if removed := os.Remove(file.Name()); removed != nil && !errors.Is(removed, fs.ErrNotExist) {
		err = errors.Join(err, removed)
	}
	return err
}
