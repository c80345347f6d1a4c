//go:build !linux

package storetest

import "os/exec"

func lockThread() {}

func dieWithParent(*exec.Cmd) {} // only Linux has this; elsewhere Main ends the servers
