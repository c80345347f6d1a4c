//go:build linux || darwin

package main

import (
	"math"
	"syscall"
)

// openFiles returns how many files and connections this process may have open at once; 0 = no limit.
func openFiles() int {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil || limit.Cur > math.MaxInt32 {
		return 0
	}
	return int(limit.Cur)
}
