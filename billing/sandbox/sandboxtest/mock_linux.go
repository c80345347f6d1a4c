package sandboxtest

import (
	"os/exec"
	"syscall"
)

// dieWithParent ends a child when the tests end, also by a panic.
func dieWithParent(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
