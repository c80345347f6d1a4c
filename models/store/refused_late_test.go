package store

import (
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
)

// A refusal that arrives after the user was let in is of the password before: it keeps nobody from connecting.
func TestLateRefusalKeepsNobodyOut(t *testing.T) {
	t.Parallel()
	refusal := &pgconn.PgError{Code: "28P01"}
	var b backOff
	began := time.Now()
	b.note(began, refusal)
	if b.refused() == nil {
		t.Error("no pause after a refusal")
	}
	b.note(time.Now(), nil)
	if err := b.refused(); err != nil {
		t.Errorf("let in, and yet: %v", err)
	}
	b.note(began, refusal)
	if err := b.refused(); err != nil {
		t.Errorf("an attempt from before: %v", err)
	}
	b.note(time.Now(), refusal)
	if b.refused() == nil {
		t.Error("no pause after a new refusal")
	}
}

// PgBouncer has a list of users of its own, and refuses a password as it refuses everything: with SQLSTATE 08P01. Then,
// too, its user is tried seldom, and the error says what to correct.
func TestUserRefusedByAPooler(t *testing.T) {
	t.Parallel()
	for message, ofUser := range map[string]bool{
		"SASL authentication failed": true, "password authentication failed": true, "no such user": true, "no more connections allowed (max_client_conn)": false,
	} {
		var attempts atomic.Int32
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
				attempts.Add(1)
				backend := pgproto3.NewBackend(client, client)
				if _, err := backend.ReceiveStartupMessage(); err == nil {
					backend.Send(&pgproto3.ErrorResponse{Severity: "FATAL", Code: "08P01", Message: message})
					_ = backend.Flush()
				}
				_ = client.Close()
			}
		}()
		st := new(Store)
		if err := st.connectPostgres("postgres://u@" + listener.Addr().String() + "/x?sslmode=disable"); err != nil {
			t.Fatal(err)
		}
		pool, err := st.write.DB()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = pool.Close() })
		for range 50 {
			err := unavailable(pool.PingContext(t.Context()))
			if said := strings.Contains(err.Error(), "refuses the user or password of database_url"); said != ofUser || !strings.Contains(err.Error(), message) {
				t.Fatal(err)
			}
		}
		if n := attempts.Load(); (n < 10) != ofUser {
			t.Errorf("%s: %d attempts of 50", message, n)
		}
	}
}
