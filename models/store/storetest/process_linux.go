package storetest

import (
	"os/exec"
	"runtime"
	"syscall"
)

func lockThread() { runtime.LockOSThread() }

func dieWithParent(cmd *exec.Cmd) { cmd.SysProcAttr.Pdeathsig = syscall.SIGQUIT }
