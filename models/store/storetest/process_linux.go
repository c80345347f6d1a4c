package storetest

import (
	"os/exec"
	"runtime"
	"syscall"
)

func lockThread() { runtime.LockOSThread() }

func dieWithParent(cmd *exec.Cmd) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Pdeathsig = syscall.SIGQUIT
}
