//go:build !linux

package store

import "time"

func giveUpAfter(int, time.Duration) {} // only Linux has this; elsewhere the system's own patience counts
