package storetest

import (
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"
)

// process is a server that a test started. It dies with the test process, even if that is killed (Pdeathsig, which
// Linux ties to the thread that started it: see startProcess).
type process struct {
	cmd  *exec.Cmd
	done chan struct{}
}

// starter runs every start on one thread that lives as long as the program, since a child with Pdeathsig dies with the
// thread, not the process, that started it.
var starter = sync.OnceValue(func() chan func() {
	work := make(chan func())
	go func() {
		lockThread()
		for f := range work {
			f()
		}
	}()
	return work
})

func startProcess(cmd *exec.Cmd) (*process, error) {
	if err := unprivileged(cmd); err != nil {
		return nil, err
	}
	dieWithParent(cmd)
	started := make(chan error)
	starter() <- func() { started <- cmd.Start() }
	if err := <-started; err != nil {
		return nil, err
	}
	p := &process{cmd: cmd, done: make(chan struct{})}
	go func() {
		_ = cmd.Wait()
		close(p.done)
	}()
	return p, nil
}

// kill ends the process, which can do nothing about it.
func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	<-p.done
}

// quit ends PostgreSQL with all its processes, at once and without a checkpoint (its immediate shutdown).
func (p *process) quit() {
	_ = p.cmd.Process.Signal(syscall.SIGQUIT)
	select {
	case <-p.done:
	case <-time.After(5 * time.Second):
		_ = p.cmd.Process.Kill()
		<-p.done
	}
}

// account is the user to run servers as if the tests run as root, which PostgreSQL refuses.
var account = sync.OnceValues(func() (*syscall.Credential, error) {
	if os.Getuid() != 0 {
		return nil, nil //nolint:nilnil // nil credential: stay who we are
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err1 := strconv.ParseUint(u.Uid, 10, 32)
		gid, err2 := strconv.ParseUint(u.Gid, 10, 32)
		if err1 == nil && err2 == nil {
			return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
		}
	}
	return nil, fmt.Errorf("running as root, and there is no user postgres or nobody to run the server as")
})

func unprivileged(cmd *exec.Cmd) error {
	cred, err := account()
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: cred}
	return err
}

func ownedByUnprivileged(dir string) error {
	cred, err := account()
	if err != nil || cred == nil {
		return err
	}
	return os.Chown(dir, int(cred.Uid), int(cred.Gid))
}

// waitFor repeats try until it succeeds.
func waitFor(limit time.Duration, try func() error) error {
	deadline := time.Now().Add(limit)
	for {
		err := try()
		if err == nil || time.Now().After(deadline) {
			return err
		}
		time.Sleep(20 * time.Millisecond) // polling: another process sends no signal
	}
}

var (
	exitMu    sync.Mutex
	exitFuncs []func()
)

// OnExit registers what Main calls after the last test.
func OnExit(f func()) {
	exitMu.Lock()
	defer exitMu.Unlock()
	exitFuncs = append(exitFuncs, f)
}

// Main runs a package's tests and then what was registered: servers that they shared end. Use it as TestMain's body.
func Main(m *testing.M) {
	code := m.Run()
	exitMu.Lock()
	defer exitMu.Unlock()
	for _, f := range exitFuncs {
		f()
	}
	os.Exit(code)
}
