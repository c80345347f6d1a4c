package store

import (
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
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
