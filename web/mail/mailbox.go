package mail

import (
	"context"
	"slices"
	"sync"
	"time"
)

// mailboxKeeps is how many messages a mailbox holds; the oldest are dropped.
const mailboxKeeps = 100

// Mailbox keeps messages in memory instead of sending them. The demo shows them, tests read them. It is safe for
// concurrent use.
type Mailbox struct {
	mu   sync.Mutex
	list []Received
	next int
}

// Received is a message in a mailbox.
type Received struct {
	Message

	ID int // 1, 2, 3…
	At time.Time
}

// Send stores a message. It never fails.
func (b *Mailbox) Send(_ context.Context, m Message) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.next++
	b.list = append(b.list, Received{m, b.next, time.Now()})
	if extra := len(b.list) - mailboxKeeps; extra > 0 {
		b.list = slices.Delete(b.list, 0, extra)
	}
	return nil
}

// All returns the stored messages, newest first.
func (b *Mailbox) All() []Received {
	b.mu.Lock()
	defer b.mu.Unlock()
	list := slices.Clone(b.list)
	slices.Reverse(list)
	return list
}

// Get returns the message with the given ID.
func (b *Mailbox) Get(id int) (Received, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, m := range b.list {
		if m.ID == id {
			return m, true
		}
	}
	return Received{}, false
}
