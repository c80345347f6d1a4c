package billing_test

import (
	"os/exec"
	"syscall"
)

// diesWithUs ends a child when the tests end, also by a panic.
func diesWithUs(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
