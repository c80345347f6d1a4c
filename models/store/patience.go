package store

import (
	"context"
	"time"
)

// patience is how long one that must not stand still waits for a database that neither answers nor refuses.
const patience = 5 * time.Second

// Bounded is ctx for a few short statements: they end with it, or when the database has not answered for long. It is for
// loops that live as long as the process. A connection that hangs would hang them for ever, although new ones work.
func (s *Store) Bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, s.patience)
}

// Lasting is Bounded for what has to be written down although ctx may have ended: a node that stops says what it did,
// and does not wait without end for a database that hangs.
func (s *Store) Lasting(ctx context.Context) (context.Context, context.CancelFunc) {
	return s.Bounded(context.WithoutCancel(ctx))
}
