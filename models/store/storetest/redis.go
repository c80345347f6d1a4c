package storetest

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// Redis is a private Redis server in a temporary folder. It listens only on a Unix socket, and logs every write, so
// that its data survives restarts.
type Redis struct {
	dir      string
	settings []string
	proc     *process
}

// NewRedis starts a Redis for one test, with settings such as "--cluster-enabled", "yes" in addition to ours.
func NewRedis(t testing.TB, settings ...string) *Redis {
	t.Helper()
	if _, err := exec.LookPath("redis-server"); err != nil {
		Missing(t, "Redis")
	}
	dir, err := makeFolder()
	if err != nil {
		t.Fatal(err)
	}
	r := &Redis{dir: dir}
	t.Cleanup(func() {
		r.Stop()
		_ = os.RemoveAll(dir)
	})
	if err := ownedByUnprivileged(dir); err != nil {
		t.Fatal(err)
	}
	r.settings = settings
	r.Start(t)
	return r
}

// URL is the server's address.
func (r *Redis) URL() string { return "unix://" + r.Socket() }

// Client returns a client of the server, to read or write past our programs. It is closed with the test.
func (r *Redis) Client(t testing.TB) *redis.Client {
	client := redis.NewClient(&redis.Options{Network: "unix", Addr: r.Socket()})
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// Socket is where the server listens.
func (r *Redis) Socket() string { return filepath.Join(r.dir, "s") }

// Start starts the server, also again after Stop.
func (r *Redis) Start(t testing.TB) {
	t.Helper()
	cmd := exec.Command("redis-server", append([]string{"--port", "0", "--unixsocket", r.Socket(), "--dir", r.dir,
		"--appendonly", "yes", "--appendfsync", "no", "--save", "", "--daemonize", "no", "--maxmemory-policy", "noeviction"}, r.settings...)...)
	cmd.Dir = r.dir
	proc, err := startProcess(cmd)
	if err != nil {
		t.Fatal(err)
	}
	r.proc = proc
	err = waitFor(10*time.Second, func() error {
		conn, err := net.Dial("unix", r.Socket())
		if err != nil {
			return err
		}
		defer conn.Close()
		_ = conn.SetDeadline(time.Now().Add(time.Second))
		if _, err := conn.Write([]byte("PING\r\n")); err != nil {
			return err
		}
		answer := make([]byte, 5)
		if _, err := conn.Read(answer); err != nil || string(answer) != "+PONG" {
			return fmt.Errorf("%q %w", answer, err)
		}
		return nil
	})
	if err != nil {
		t.Fatalf("start Redis: %v", err)
	}
}

// Lose deletes the data of a stopped server: it comes back empty.
func (r *Redis) Lose(t testing.TB) {
	t.Helper()
	for _, data := range []string{"appendonlydir", "appendonly.aof"} { // the second is that of Redis before 7
		if err := os.RemoveAll(filepath.Join(r.dir, data)); err != nil {
			t.Fatal(err)
		}
	}
}

// Keep saves what the server holds at this moment. It must hold something.
func (r *Redis) Keep(t testing.TB) {
	t.Helper()
	cmd := exec.Command("cp", "-a", filepath.Join(r.dir, "appendonlydir"), filepath.Join(r.dir, "kept"))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("keep the data: %v\n%s", err, out)
	}
}

// TakeOver kills the server and replaces its data with what Keep saved: everything since is lost.
func (r *Redis) TakeOver(t testing.TB) {
	t.Helper()
	r.Stop()
	r.Lose(t)
	if err := os.Rename(filepath.Join(r.dir, "kept"), filepath.Join(r.dir, "appendonlydir")); err != nil {
		t.Fatal(err)
	}
	r.Start(t)
}

// Stop kills the server, like a crash.
func (r *Redis) Stop() {
	if r.proc != nil {
		r.proc.kill()
		_ = os.Remove(r.Socket())
	}
}
