package storetest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
)

// makeFolder makes a folder for a server. It is in the folder for temporary files, not in the test's own, since a
// socket's path may have at most 107 bytes. What tests that were killed left there is removed.
func makeFolder() (string, error) {
	sweepOnce()
	return os.MkdirTemp("", fmt.Sprintf("lottery%d-", os.Getpid()))
}

var sweepOnce = sync.OnceFunc(func() { sweep(os.TempDir()) })

// sweep removes the folders in dir whose processes are gone.
func sweep(dir string) {
	found, _ := filepath.Glob(filepath.Join(dir, "lottery*-*")) // the pattern is valid
	for _, folder := range found {
		var pid int
		_, err := fmt.Sscanf(strings.TrimPrefix(filepath.Base(folder), "lottery"), "%d-", &pid)
		if err == nil && errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
			_ = os.RemoveAll(folder) // another test may be removing it
		}
	}
}
