package store

import (
	"context"
	"time"
)

// patience is how long callers that must not block wait for a silent database.
const patience = 5 * time.Second

// Bounded returns a context for a few short statements, which ends with ctx or when the database has been
// silent for too long. It is for loops that run as long as the process: a hanging connection would block them
// forever, although new ones work.
func (s *Store) Bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, s.patience)
}

// Lasting is Bounded for what must be written even though ctx may have ended: a node that stops records what it did,
// but does not wait endlessly for a database that hangs.
func (s *Store) Lasting(ctx context.Context) (context.Context, context.CancelFunc) {
	return s.Bounded(context.WithoutCancel(ctx))
}
