package middleware

import (
	"context"
	"time"

	"lottery/models/store"
)

// AskEvery sets how often Run asks for changed accounts, before it runs.
func (k *Keys) AskEvery(interval time.Duration) { k.every = interval }

// Waiting is how many look-ups are still to be read.
func (k *Keys) Waiting() int {
	k.lookUps.mu.Lock()
	defer k.lookUps.mu.Unlock()
	return len(k.lookUps.waiting)
}

// Refresh is one poll of Run. It tells which account change it has worked off.
func (k *Keys) Refresh(ctx context.Context) (seen store.AccountChange, err error) {
	err = k.refresh(ctx)
	return k.seen, err
}

// ReadAhead reads the first portion of keys ahead.
func (k *Keys) ReadAhead(ctx context.Context) error {
	_, err := k.ahead.portion(ctx, "")
	return err
}
