package sandboxtest

import (
	"os/exec"
	"syscall"
)

// dieWithParent makes a child end with the tests, even after a panic.
func dieWithParent(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
