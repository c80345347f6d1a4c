package middleware

import (
	"context"
	"time"

	"lottery/models/store"
)

// AskEvery sets how often Run asks for changed accounts. Call it before Run.
func (k *Keys) AskEvery(interval time.Duration) { k.every = interval }

// Waiting is how many lookups have not been read yet.
func (k *Keys) Waiting() int {
	k.lookUps.mu.Lock()
	defer k.lookUps.mu.Unlock()
	return len(k.lookUps.waiting)
}

// KnownOf is how many known keys the account has.
func (k *Keys) KnownOf(account string) (n int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for e := k.byAccount[account]; e != nil; e = e.next {
		n++
	}
	return n
}

// Refresh polls once, as Run does, and returns the last account change processed.
func (k *Keys) Refresh(ctx context.Context) (seen store.AccountChange, err error) {
	err = k.refresh(ctx)
	return k.seen, err
}

// ReadAhead reads the first portion of keys ahead.
func (k *Keys) ReadAhead(ctx context.Context) error {
	_, err := k.ahead.portion(ctx, "")
	return err
}
