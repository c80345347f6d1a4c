package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// unit returns the systemd unit.
func unit(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "operations", "lotteryapi.service"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// A server that finds no database ends, and systemd starts it again, for as long as that takes: with a limit on starts, a
// database that came back a minute after the machine would find that all nodes had been given up.
// Nor may an exit code keep it from being started again: a panic has the one of a wrong configuration.
func TestUnitStartsUntilItWorks(t *testing.T) {
	t.Parallel()
	text := unit(t)
	for _, line := range []string{"\nStartLimitIntervalSec=0\n", "\nRestart=always\n", "\nRestartSec=2\n"} {
		if !strings.Contains(text, line) {
			t.Errorf("the unit does not say %q", line)
		}
	}
	if strings.Contains(text, "RestartPreventExitStatus") {
		t.Error("the unit leaves a server that panics where it is")
	}
}

// The systemd unit leaves the server what it reads: Go takes the length of the queue of new connections from
// /proc/sys/net/core/somaxconn, and where ProcSubset=pid hides that, from a constant, 128. The 129th of a burst of
// connections then waits a second, until its client knocks again.
func TestUnitLeavesTheQueueOfConnections(t *testing.T) {
	t.Parallel()
	for line := range strings.Lines(unit(t)) {
		if strings.HasPrefix(line, "ProcSubset=") || strings.HasPrefix(line, "InaccessiblePaths=") {
			t.Errorf("the unit says %s", line)
		}
	}
}

// `systemctl restart` returns when the server serves, so that the next command of an upgrade, doctor, does not find the
// database as it was before. A migration may take longer than systemd's minute and a half.
func TestUnitWaitsUntilTheServerServes(t *testing.T) {
	t.Parallel()
	for _, line := range []string{"\nType=notify\n", "\nTimeoutStartSec=infinity\n"} {
		if !strings.Contains(unit(t), line) {
			t.Errorf("the unit does not say %q", line)
		}
	}
}
