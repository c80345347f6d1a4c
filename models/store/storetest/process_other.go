//go:build !linux

package storetest

import "os/exec"

func lockThread() {}

func dieWithParent(*exec.Cmd) {} // Linux only; elsewhere Main stops the servers
