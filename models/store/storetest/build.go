package storetest

import (
	"fmt"
	"os"
	"os/exec"
)

// Build builds programs of this module and returns their folder, which Main removes after the last test. env is added to
// the environment, as NAME=value.
func Build(env []string, packages ...string) (string, error) {
	dir, err := os.MkdirTemp("", "lottery-bin")
	if err != nil {
		return "", err
	}
	OnExit(func() { _ = os.RemoveAll(dir) })
	build := exec.Command("go", append([]string{"build", "-o", dir}, packages...)...)
	build.Env = append(append(os.Environ(), "CGO_ENABLED=0"), env...)
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	return dir, nil
}
