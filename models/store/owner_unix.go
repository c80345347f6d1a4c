//go:build unix

package store

import (
	"os"
	"path/filepath"
	"syscall"
)

// giveToOwnerOfFolder makes the owner of its folder the owner of a file that root has just made, as SQLite does with the
// files that it makes beside a database: otherwise a server that runs as that owner could not open it. Where root may
// not do so, the file stays root's.
func giveToOwnerOfFolder(file *os.File) {
	if os.Geteuid() != 0 {
		return
	}
	info, err := os.Stat(filepath.Dir(file.Name()))
	if err != nil {
		return
	}
	if folder, ok := info.Sys().(*syscall.Stat_t); ok && folder.Uid != 0 {
		_ = file.Chown(int(folder.Uid), int(folder.Gid))
	}
}
