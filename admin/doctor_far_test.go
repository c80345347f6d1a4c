package admin_test

import (
	"io"
	"net"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lottery/models/store/storetest"
)

// A database that answers, but from far away, is reported with the time that the way takes, which is not mistaken for a
// difference of the clocks.
func TestDoctorFarFromTheDatabase(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.now = time.Time{}
	d.database = storetest.NewPostgres(t)
	d.run(0, "db", "migrate")
	at, err := url.Parse(d.database)
	if err != nil {
		t.Fatal(err)
	}
	link := farLink(t, filepath.Join(at.Query().Get("host"), ".s.PGSQL.5432"))
	d.database = "postgres://" + at.User.String() + "@" + link + at.Path + "?sslmode=disable"
	if out, _ := d.run(0, "doctor"); !strings.Contains(out, " ms away") || !strings.Contains(out, " 0s from PostgreSQL's") { // the tests' PostgreSQL has settings to warn of first
		t.Error(out)
	}
}

// So is a Redis.
func TestDoctorFarFromRedis(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.now = time.Time{}
	d.run(0, "db", "migrate")
	d.redis = "redis://" + farLink(t, strings.TrimPrefix(storetest.NewRedis(t).URL(), "unix://"))
	if out, _ := d.run(0, "doctor"); !strings.Contains(out, " ms away") || !strings.Contains(out, "nearer to Redis") || !strings.Contains(out, " 0s from Redis's") {
		t.Error(out)
	}
}

// farLink is the TCP address of a link to a server's socket, on which whatever is sent arrives 100 ms later.
func farLink(t *testing.T, socket string) string {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			server, err := (&net.Dialer{}).DialContext(t.Context(), "unix", socket)
			if err != nil {
				_ = client.Close()
				continue
			}
			go func() { _, _ = io.Copy(client, server); _ = client.Close() }()
			go func() { _, _ = io.Copy(server, late{client}); _ = server.Close() }()
		}
	}()
	return listener.Addr().String()
}

// late is a reader whose every piece comes 100 ms after it was sent.
type late struct{ io.Reader }

func (l late) Read(b []byte) (int, error) {
	n, err := l.Reader.Read(b)
	time.Sleep(100 * time.Millisecond)
	return n, err
}
