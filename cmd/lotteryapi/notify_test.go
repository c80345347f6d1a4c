package main

import (
	"lottery/models/store/storetest"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// With Type=notify, systemd waits for the server's word that it is ready: a command after `systemctl restart` must find
// the database brought up to date, and a server that answers.
func TestSystemdIsToldWhenTheServerIsReady(t *testing.T) {
	t.Parallel()
	folder, err := os.MkdirTemp("", "lottery") // t.TempDir() may be too long for a socket's address
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	for name, address := range map[string]string{"a file": filepath.Join(folder, "notify"), "an abstract address": "@" + filepath.Base(folder)} {
		socket, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: address, Net: "unixgram"})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = socket.Close() })
		dir := t.TempDir()
		p := launchWith(t, dir, []string{"NOTIFY_SOCKET=" + address}, serveArgs("sqlite:"+filepath.Join(dir, "lottery.db"))...)
		if err := socket.SetReadDeadline(time.Now().Add(30 * time.Second)); err != nil {
			t.Fatal(err)
		}
		word := make([]byte, 64)
		n, err := socket.Read(word)
		if err != nil || string(word[:n]) != "READY=1" {
			t.Fatalf("%s: %q, %v", name, word[:n], err)
		}
		storetest.Until(t, "its log to be read", func() bool { p.base = listening(p.stderr.String()); return p.base != "" })
		if status, body := p.get(t, "/readyz", ""); status != 200 {
			t.Errorf("%s: systemd was told, and /readyz says %d %s", name, status, body)
		}
	}
}

// A socket that nobody listens on, left over in the environment, keeps no server from serving.
func TestNobodyIsThereToBeTold(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := ready(t, launchWith(t, dir, []string{"NOTIFY_SOCKET=" + filepath.Join(dir, "nobody")}, serveArgs("sqlite:"+filepath.Join(dir, "lottery.db"))...))
	if status, _ := p.get(t, "/healthz", ""); status != 200 {
		t.Errorf("/healthz says %d", status)
	}
}
