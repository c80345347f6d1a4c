package store_test

import (
	"context"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"

	"lottery/models"
	"lottery/models/store"
	"lottery/models/store/storetest"
)

// A pooler accepts a connection at once, but answers only when it has a PostgreSQL session for it. That is waited for
// as long as a connection would be, and the error says what to do.
func TestPoolerWithoutASession(t *testing.T) {
	t.Parallel()
	address := storetest.Listen(t, func(client net.Conn) {
		t.Cleanup(func() { _ = client.Close() })
		backend := pgproto3.NewBackend(client, client)
		if _, err := backend.ReceiveStartupMessage(); err != nil {
			return
		}
		backend.Send(&pgproto3.AuthenticationOk{})
		backend.Send(&pgproto3.ReadyForQuery{TxStatus: 'I'})
		_ = backend.Flush()
	})
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	_, err := store.Open(ctx, "postgres://u@"+address+"/x?sslmode=disable&connect_timeout=1", store.Options{})
	if ctx.Err() != nil || models.ErrorCode(err) != models.CodeUnavailable || !strings.Contains(err.Error(), "that a pooler has a connection left") {
		t.Errorf("%v, %v", err, ctx.Err())
	}
}

// A pooler that has welcomed a client may refuse its first statement and hang up, since it finds no session, or
// PostgreSQL does not let it in. The error is what it said.
func TestPoolerThatRefuses(t *testing.T) {
	t.Parallel()
	address := storetest.Listen(t, func(client net.Conn) {
		defer client.Close()
		backend := pgproto3.NewBackend(client, client)
		if _, err := backend.ReceiveStartupMessage(); err != nil {
			return
		}
		backend.Send(&pgproto3.AuthenticationOk{})
		backend.Send(&pgproto3.ReadyForQuery{TxStatus: 'I'})
		if err := backend.Flush(); err != nil {
			return
		}
		if _, err := backend.Receive(); err != nil {
			return
		}
		backend.Send(&pgproto3.ErrorResponse{Severity: "FATAL", Code: "08P01", Message: "query_wait_timeout"})
		_ = backend.Flush()
	})
	_, err := store.Open(t.Context(), "postgres://u@"+address+"/x?sslmode=disable", store.Options{})
	if models.ErrorCode(err) != models.CodeUnavailable || !strings.Contains(err.Error(), "query_wait_timeout") || strings.Contains(err.Error(), "conn closed") {
		t.Errorf("%v", err)
	}
}

// Statements prepared in one session are missing in another: the error names a pooler that switches sessions, not a
// database that does not answer.
func TestPoolerThatChangesSessions(t *testing.T) {
	t.Parallel()
	st := storetest.OpenURL(t, storetest.NewPostgres(t), store.Options{})
	if _, err := st.Overview(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, _, _, err := st.InSession(t.Context(), "DEALLOCATE ALL"); err == nil {
		t.Fatal("a statement that is gone itself, then, can be said again")
	}
	_, err := st.Overview(t.Context())
	if models.ErrorCode(err) != models.CodeUnavailable || !strings.Contains(err.Error(), "pool_mode=session") || strings.Contains(err.Error(), "does not answer") {
		t.Errorf("%v", err)
	}
}
