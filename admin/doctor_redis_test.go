package admin_test

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"github.com/rogpeppe/go-internal/testscript"

	"lottery/admin"
	"lottery/models/store"
	"lottery/models/store/storetest"
)

// A Redis that refuses writes or is down, and a wrong clock, are each reported, and the rest is still checked.
func TestDoctorOfRedisAndClock(t *testing.T) {
	t.Parallel()
	redis := storetest.NewRedis(t)
	database := storetest.URL(t)
	storetest.OpenURL(t, database, store.Options{})
	examine := func(ahead time.Duration) (map[string]string, int) {
		var stdout, stderr strings.Builder
		settings := map[string]string{"LOTTERY_DATABASE_URL": database, "LOTTERY_REDIS_URL": redis.URL()}
		code := admin.Run(context.Background(), []string{"doctor", "-o", "json"}, admin.Env{
			Getenv: func(name string) string { return settings[name] }, Stdin: strings.NewReader(""), Stdout: &stdout, Stderr: &stderr,
			Now: func() time.Time { return time.Now().Add(ahead) }, IsTerminal: func(any) bool { return false },
		})
		var list []struct{ Check, Status, Found string }
		if err := json.Unmarshal([]byte(stdout.String()), &list); err != nil {
			t.Fatalf("%v: %s%s", err, stdout.String(), stderr.String())
		}
		found := map[string]string{}
		for _, f := range list {
			found[f.Check] = f.Status
			t.Logf("%s %s: %s", f.Check, f.Status, f.Found)
		}
		return found, code
	}
	if found, code := examine(0); code != 0 || (found["redis"] != "ok" && found["redis"] != "warning") || found["clock"] != "ok" {
		t.Errorf("well: exit code %d, %v", code, found)
	}
	if found, code := examine(2 * time.Hour); code != 1 || found["clock"] != "failed" || found["database"] != "ok" {
		t.Errorf("a clock two hours ahead: exit code %d, %v", code, found)
	}
	// Reads still work, while every request would be admitted from memory.
	options, err := goredis.ParseURL(redis.URL())
	if err != nil {
		t.Fatal(err)
	}
	client := goredis.NewClient(options)
	t.Cleanup(func() { _ = client.Close() })
	for _, c := range []struct{ takes, heals []any }{
		{[]any{"REPLICAOF", "127.0.0.1", "1"}, []any{"REPLICAOF", "NO", "ONE"}},
		{[]any{"CONFIG", "SET", "maxmemory", "1"}, []any{"CONFIG", "SET", "maxmemory", "0"}},
		{[]any{"CONFIG", "SET", "min-replicas-to-write", "1"}, []any{"CONFIG", "SET", "min-replicas-to-write", "0"}},
	} {
		if err := client.Do(t.Context(), c.takes...).Err(); err != nil {
			t.Fatal(err)
		}
		if found, code := examine(0); code != 1 || found["redis"] != "failed" {
			t.Errorf("Redis after %v: exit code %d, %v", c.takes, code, found)
		}
		if err := client.Do(t.Context(), c.heals...).Err(); err != nil {
			t.Fatal(err)
		}
	}
	if keys, err := client.Keys(t.Context(), "*").Result(); err != nil || len(keys) > 0 {
		t.Errorf("the doctor left %q, %v", keys, err)
	}
	redis.Stop()
	if found, code := examine(0); code != 1 || found["redis"] != "failed" || found["database"] != "ok" || found["permissions"] == "" {
		t.Errorf("Redis away: exit code %d, %v", code, found)
	}
}

// Where the Redis user may not choose a database, the remedy is a right, not a password.
func TestDoctorOfRedisRights(t *testing.T) {
	t.Parallel()
	redis := storetest.NewRedis(t)
	options, err := goredis.ParseURL(redis.URL())
	if err != nil {
		t.Fatal(err)
	}
	client := goredis.NewClient(options)
	t.Cleanup(func() { _ = client.Close() })
	if err := client.Do(t.Context(), "ACL", "SETUSER", "few", "on", ">secret", "+time", "+eval").Err(); err != nil {
		t.Fatal(err)
	}
	settings := map[string]string{"LOTTERY_DATABASE_URL": storetest.URL(t), "LOTTERY_REDIS_URL": "unix://few:secret@" + redis.Socket() + "?db=1"}
	var stdout, stderr strings.Builder
	admin.Run(context.Background(), []string{"doctor", "-o", "csv"}, admin.Env{
		Getenv: func(name string) string { return settings[name] }, Stdin: strings.NewReader(""), Stdout: &stdout, Stderr: &stderr,
		Now: time.Now, IsTerminal: func(any) bool { return false },
	})
	for line := range strings.Lines(stdout.String()) {
		if strings.HasPrefix(line, "redis,") {
			if !strings.Contains(line, "its user may SELECT") || strings.Contains(line, "password") {
				t.Error(line)
			}
			return
		}
	}
	t.Errorf("no line about Redis: %s%s", stdout.String(), stderr.String())
}

// A Redis in protected mode, which is how it is delivered, hangs up on other machines. Its reason is not always read: the
// doctor tells what to do without it.
func TestDoctorOfRedisInProtectedMode(t *testing.T) {
	t.Parallel()
	for _, says := range []string{"", "-DENIED Redis is running in protected mode because protected mode is enabled and no password is set\r\n"} {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = listener.Close() })
		go func() {
			for {
				conn, err := listener.Accept()
				if err != nil {
					return
				}
				_, _ = conn.Write([]byte(says))
				_ = conn.Close()
			}
		}()
		settings := map[string]string{"LOTTERY_DATABASE_URL": storetest.URL(t), "LOTTERY_REDIS_URL": "redis://" + listener.Addr().String()}
		var stdout, stderr strings.Builder
		code := admin.Run(t.Context(), []string{"doctor", "-o", "json"}, admin.Env{
			Getenv: func(name string) string { return settings[name] }, Stdin: strings.NewReader(""), Stdout: &stdout, Stderr: &stderr,
			Now: time.Now, IsTerminal: func(any) bool { return false },
		})
		if code != 1 || !strings.Contains(stdout.String(), "requirepass") {
			t.Errorf("%q: exit code %d, %s%s", says, code, stdout.String(), stderr.String())
		}
	}
}

// mailserver is a command of the scripts. It starts a mail server with TLS that knows the user "lottery" with the
// password "right" and takes mail from noreply@example.com only, trusts its certificate, and stores its address in $MAIL.
func mailserver(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: mailserver")
	}
	certificate, text := selfSigned(ts)
	ts.Check(os.WriteFile(ts.MkAbs("ca.pem"), text, 0o600))
	listener, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12})
	ts.Check(err)
	ts.Defer(func() { listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go answerMail(conn)
		}
	}()
	ts.Setenv("SSL_CERT_FILE", ts.MkAbs("ca.pem"))
	ts.Setenv("MAIL", listener.Addr().String())
}

func answerMail(conn net.Conn) {
	defer conn.Close()
	want := base64.StdEncoding.EncodeToString([]byte("\x00lottery\x00right"))
	fmt.Fprint(conn, "220 test\r\n")
	for lines := bufio.NewScanner(conn); lines.Scan(); {
		word, rest, _ := strings.Cut(lines.Text(), " ")
		switch strings.ToUpper(word) {
		case "EHLO":
			fmt.Fprint(conn, "250-test\r\n250 AUTH PLAIN\r\n")
		case "AUTH":
			if rest == "PLAIN "+want {
				fmt.Fprint(conn, "235 welcome\r\n")
			} else {
				fmt.Fprint(conn, "535 5.7.8 wrong user or password\r\n")
			}
		case "QUIT":
			fmt.Fprint(conn, "221 bye\r\n")
			return
		case "MAIL":
			if strings.HasPrefix(rest, "FROM:<noreply@example.com>") {
				fmt.Fprint(conn, "250 ok\r\n")
			} else {
				fmt.Fprint(conn, "550 5.7.1 not your address\r\n")
			}
		case "RCPT", "DATA":
			fmt.Fprint(conn, "550 a doctor sends nothing\r\n")
		default:
			fmt.Fprint(conn, "250 ok\r\n")
		}
	}
}

func selfSigned(ts *testscript.TestScript) (tls.Certificate, []byte) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	ts.Check(err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), IsCA: true, BasicConstraintsValid: true, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	ts.Check(err)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

// A release that runs on the schema of a later one says so: its own migrations did not make that schema.
func TestDoctorOfALaterSchema(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.now = time.Now() // otherwise the doctor complains about the clock
	d.run(0, "db", "migrate")
	d.exec("INSERT INTO schema_migrations (version_id, is_applied) VALUES (4242, true)")
	if out, _ := d.run(0, "doctor"); !strings.Contains(out, "later ones from a newer release: schema 4242, of which this program knows") {
		t.Error(out)
	}
}

// One node keeps 16 connections, and a command needs one more: a user who may open fewer is told before requests fail.
func TestDoctorOfFewConnections(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.now = time.Now() // otherwise the doctor complains about the clock
	d.database = storetest.NewPostgres(t)
	d.run(0, "db", "migrate")
	owner := d.database
	at, err := url.Parse(d.database)
	if err != nil {
		t.Fatal(err)
	}
	name := strings.TrimPrefix(at.Path, "/")
	at.User = url.User("few")
	d.database = at.String()
	for _, c := range []struct{ limits, want string }{
		{"DROP ROLE IF EXISTS few; CREATE ROLE few LOGIN", ""},
		{"ALTER ROLE few CONNECTION LIMIT 17", ""},
		{"ALTER ROLE few CONNECTION LIMIT 16", "lets its user open 16 connections, and a node opens 16"},
		{"ALTER ROLE few CONNECTION LIMIT -1; ALTER DATABASE " + name + " CONNECTION LIMIT 9", "lets its user open 9 connections, and a node opens 16"},
		{"ALTER ROLE few SUPERUSER", ""},
	} {
		storetest.Exec(t, owner, c.limits, "GRANT ALL ON ALL TABLES IN SCHEMA public TO few")
		out, _ := d.run(0, "doctor")
		if c.want == "" && strings.Contains(out, "lets its user open") || !strings.Contains(out, c.want) {
			t.Errorf("%s: want %q\n%s", c.limits, c.want, out)
		}
	}
}

// The remedy for a server without a free connection is not only about the password.
func TestDoctorWithoutAFreeConnection(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.database = storetest.NewPostgres(t)
	at, err := url.Parse(d.database)
	if err != nil {
		t.Fatal(err)
	}
	storetest.Exec(t, d.database, "DROP ROLE IF EXISTS full_up; CREATE ROLE full_up LOGIN CONNECTION LIMIT 0")
	at.User = url.User("full_up")
	d.database = at.String()
	out, _ := d.run(1, "doctor")
	if !strings.Contains(out, "SQLSTATE 53300") || !strings.Contains(out, "that it has connections left (max_connections)") {
		t.Error(out)
	}
}
