package middleware

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"lottery/models/store"
)

// uses writes when keys were last used, to the minute. With many keys in use that is a lot to write every minute, so it
// is done in portions, a few per step: nothing else waits long for the database.
type uses struct {
	keys   *Keys
	due    []use // not written yet
	outage store.Outage
}

// use says that a key was used in a minute (Unix).
type use struct {
	key    *knownKey
	id     string
	minute int64
}

const (
	usesStep    = 500 * time.Millisecond
	usesEvery   = 10  // steps between two passes over all keys: 5 s
	usesPortion = 200 // keys written by one query
	usesAtStep  = 10  // portions per step: 4,000 keys a second

	usesTimeout = 5 * time.Second // for a portion
)

// Flush writes the last uses that are not written yet, unless ctx ends. It must not be called while Run runs.
func (k *Keys) Flush(ctx context.Context) {
	k.uses.collect()
	k.uses.write(ctx, len(k.uses.due))
}

// run writes what is due until ctx ends, pausing while the database is away.
func (u *uses) run(ctx context.Context) {
	tick := time.NewTicker(usesStep)
	defer tick.Stop()
	for ticks := 0; ; ticks++ {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if !u.keys.away.Load() {
			u.step(ctx, ticks%usesEvery == 0)
		}
	}
}

// step writes some of what is due. If look is set and nothing is due, it collects first.
func (u *uses) step(ctx context.Context, look bool) {
	if look && len(u.due) == 0 {
		u.collect()
	}
	u.write(ctx, usesAtStep)
}

// collect lists what is due.
func (u *uses) collect() {
	u.due = u.due[:0]
	for key := range u.keys.known.all() {
		if minute := key.usedAt.Load(); minute > key.writtenAt.Load() {
			u.due = append(u.due, use{key, key.principal.Load().KeyID, minute})
		}
	}
	slices.SortFunc(u.due, func(a, b use) int {
		return cmp.Or(cmp.Compare(a.minute, b.minute), cmp.Compare(a.id, b.id))
	})
}

// write writes up to that many portions of what is due, each of a single minute.
func (u *uses) write(ctx context.Context, portions int) {
	for ; portions > 0 && len(u.due) > 0; portions-- {
		var ids []string
		minute := u.due[0].minute
		for _, due := range u.due[:min(usesPortion, len(u.due))] {
			if due.minute == minute {
				ids = append(ids, due.id)
			}
		}
		err := u.touch(ctx, ids, minute)
		if err == nil || !errors.Is(ctx.Err(), context.Canceled) { // else this process stops, and Flush tries again
			u.outage.Note(u.keys.log, err, "last uses of keys cannot be written now", "last uses of keys can be written again")
		}
		if err != nil {
			u.due = u.due[len(ids):] // collected again later
			return
		}
		for _, due := range u.due[:len(ids)] {
			raise(&due.key.writtenAt, minute)
		}
		u.due = u.due[len(ids):]
	}
}

func (u *uses) touch(ctx context.Context, ids []string, minute int64) error {
	ctx, cancel := context.WithTimeout(ctx, usesTimeout)
	defer cancel()
	return u.keys.store.TouchKeys(ctx, ids, time.Unix(minute*60, 0))
}
