package middleware

import (
	"context"
	"errors"
	"net"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// connection is one client's. For every request net/http sets eight deadlines, and begins to read a byte of the next
// one so as to notice a client that goes away: for an answer that is made in microseconds, a tenth of all it costs,
// and a third where a connection is alone. Here deadlines are only noted, and kept by one clock for all connections, a
// little late; and it is the connection that looks out for its client, once a request has taken a moment.
type connection struct {
	net.Conn

	of     *Connections
	number uint64
	since  time.Duration      // when it came, after epoch
	cancel context.CancelFunc // ends the requests; nil = nobody asked for the connection's context
	busy   atomic.Bool        // a request is being answered
	writes atomic.Uint64      // odd while a piece is being written
	awaits atomic.Bool        // more of a request is being waited for, or the next one
	once   sync.Once

	readBy atomic.Int64 // a moment; 0 = whenever, negative = at once
	begun  atomic.Bool  // something has been written since the last read: an answer is on its way

	sending sync.Mutex          // one piece after the other; guards held
	held    *[serverBuffer]byte // the first piece of an answer, of which more is to come; nil = none

	holding atomic.Bool // held is not nil

	mu      sync.Mutex // guards what follows
	writeBy int64
	stuck   struct { // for so many steps the same piece has been being written, or the client has been waited for
		write uint64
		steps int
		waits int
	}
	seenHolding bool                       // at the last step
	overdue     struct{ read, write bool } // the network's own deadline was set, to end what waits there
	ahead       lookAhead
	watched     chan struct{} // is closed when who looks out has seen something
	came        []byte        // what they saw: the first byte of the next request
}

// lookAhead is how far looking out for a client that goes away has come.
type lookAhead uint8

const (
	aheadNone     lookAhead = iota
	aheadNew                // a request began
	aheadLong               // and was seen at a step
	aheadWatching           // at the next one too
)

// deadlineStep is how often deadlines are looked at. They are kept up to a step late, and a client that goes away is
// noticed after two.
const deadlineStep = 100 * time.Millisecond

const (
	// serverBuffer is the size of net/http's write buffer: an answer that is longer begins with a piece of so many bytes.
	serverBuffer = 4 << 10
	// shortAnswer is the length from which on an answer is sent at once: it would leave the processor's cache.
	shortAnswer = 32 << 10
)

var pieces = sync.Pool{New: func() any { return new([serverBuffer]byte) }}

// longAgo is a deadline that has passed.
var longAgo = time.Unix(1, 0)

// moment is t in nanoseconds since epoch; 0 = never.
func moment(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	if at := int64(t.Sub(epoch)); at != 0 {
		return at
	}
	return -1
}

// SetDeadline is SetReadDeadline and SetWriteDeadline.
func (c *connection) SetDeadline(t time.Time) error {
	if err := c.SetReadDeadline(t); err != nil {
		return err
	}
	return c.SetWriteDeadline(t)
}

// SetReadDeadline lets no read wait longer than until t.
func (c *connection) SetReadDeadline(t time.Time) error {
	at := moment(t)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.readBy.Store(at)
	switch {
	case at < 0 && c.awaits.Load():
		c.overdue.read = true
		return c.Conn.SetReadDeadline(longAgo)
	case at >= 0 && c.overdue.read:
		c.overdue.read = false
		return c.Conn.SetReadDeadline(time.Time{})
	}
	return nil
}

// SetWriteDeadline lets no write wait longer than until t.
func (c *connection) SetWriteDeadline(t time.Time) error {
	at := moment(t)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.writeBy = at
	switch {
	case at < 0:
		c.overdue.write = true
		return c.Conn.SetWriteDeadline(longAgo)
	case c.overdue.write:
		c.overdue.write = false
		return c.Conn.SetWriteDeadline(time.Time{})
	}
	return nil
}

// step ends what has waited longer than it may at now, looks out for the client of a request that takes long, and sees
// whether it takes what is written.
func (c *connection) step(now int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if write := c.writes.Load(); write%2 == 1 && write == c.stuck.write {
		c.stuck.steps++
	} else {
		c.stuck.write, c.stuck.steps = write, 0
	}
	if c.awaits.Load() && c.busy.Load() {
		c.stuck.waits++
	} else {
		c.stuck.waits = 0
	}
	holding := c.holding.Load()
	if holding && c.seenHolding {
		go c.release() // a handler that sends its answer bit by bit
	}
	c.seenHolding = holding
	if by := c.readBy.Load(); by != 0 && by <= now && !c.overdue.read {
		c.overdue.read = true
		_ = c.Conn.SetReadDeadline(longAgo) // fails only if it is closed
	}
	if c.writeBy != 0 && c.writeBy <= now && !c.overdue.write {
		c.overdue.write = true
		_ = c.Conn.SetWriteDeadline(longAgo)
	}
	switch c.ahead {
	case aheadNew:
		c.ahead = aheadLong
	case aheadLong:
		c.ahead, c.watched = aheadWatching, make(chan struct{})
		go c.watch()
	}
}

func (c *connection) Read(b []byte) (int, error) {
	if c.looksAhead(b) {
		c.lookAhead()
		return 0, nil
	}
	c.awaits.Store(true)
	defer c.awaits.Store(false)
	if c.readBy.Load() < 0 {
		return 0, os.ErrDeadlineExceeded
	}
	c.release()
	c.begun.Store(false)
	if n := copy(b, c.seen()); n > 0 {
		return n, nil
	}
	return c.Conn.Read(b)
}

// looksAhead tells whether a read is the one with which net/http notices a client that goes away. It wants a single byte
// and has no deadline, which the rest of a request always has. It is told that nothing has come yet, which ends it: to
// wait, and to be woken again when the answer is ready, is a twentieth of what the answer costs.
func (c *connection) looksAhead(b []byte) bool {
	return len(b) == 1 && c.readBy.Load() == 0 && c.busy.Load()
}

// lookAhead lets the client be looked out for, if the request takes long. Of whom something came already, more need not
// be seen.
func (c *connection) lookAhead() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ahead != aheadWatching && len(c.came) == 0 {
		c.ahead = aheadNew
	}
}

// watch waits for the client of a request that takes long: for its next request, or until it has gone away, of which the
// handler learns by its context.
func (c *connection) watch() {
	var b [1]byte
	n, err := c.Conn.Read(b[:])
	c.mu.Lock()
	c.ahead, c.came = aheadNone, b[:n]
	close(c.watched)
	c.watched = nil
	c.mu.Unlock()
	if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) && c.cancel != nil {
		c.cancel()
	}
}

// seen is what was seen by who looks out for the client, once they have done, and ends their looking out.
func (c *connection) seen() []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	if watched := c.watched; watched != nil {
		c.mu.Unlock()
		<-watched
		c.mu.Lock()
	}
	came := c.came
	c.ahead, c.came = aheadNone, nil
	return came
}

// Write sends b. Where net/http cuts an answer because its buffer is full, what was in the buffer waits for the rest and
// is sent with it. A short answer that is whole gives way to the other requests that are ready, if there are many
// connections: then their answers are written one right after the other, and a client on this machine, such as a proxy,
// is woken once for many of them (decision 0025).
func (c *connection) Write(b []byte) (int, error) {
	c.sending.Lock()
	defer c.sending.Unlock()
	first := !c.begun.Swap(true)
	if first && len(b) == serverBuffer {
		c.hold(b)
		return len(b), nil
	}
	if (first || c.held != nil) && len(b) < shortAnswer && c.of.many.Load() {
		runtime.Gosched()
	}
	return c.send(b)
}

// hold keeps the first piece of an answer until the next one comes.
func (c *connection) hold(b []byte) {
	piece, _ := pieces.Get().(*[serverBuffer]byte)
	copy(piece[:], b)
	c.held = piece
	c.holding.Store(true)
}

// send sends what is held, and b.
func (c *connection) send(b []byte) (int, error) {
	c.writes.Add(1)
	defer c.writes.Add(1)
	if c.held == nil {
		return c.Conn.Write(b)
	}
	defer c.forget()
	both := net.Buffers{c.held[:], b}
	n, err := both.WriteTo(c.Conn)
	return max(int(n)-serverBuffer, 0), err
}

// forget ends the holding of a piece.
func (c *connection) forget() {
	pieces.Put(c.held)
	c.held = nil
	c.holding.Store(false)
}

// release sends what is held, unless something is just being sent: no more comes for now.
func (c *connection) release() {
	if c.holding.Load() && c.sending.TryLock() {
		if c.held != nil {
			_, _ = c.send(nil) // who writes next is told
		}
		c.sending.Unlock()
	}
}

// stalled tells whether the client has not taken a piece of its answer for a while, or has been sending its request for
// as long.
func (c *connection) stalled() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return max(c.stuck.steps, c.stuck.waits) >= int(stalledAfter/deadlineStep)
}

// CloseWrite lets net/http end an answer before it has read a whole request, so that the client can read the answer.
func (c *connection) CloseWrite() error {
	c.release()
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

// Close sends what is held, and closes.
func (c *connection) Close() error {
	c.release()
	return c.drop()
}

// drop closes without sending what is held.
func (c *connection) drop() error {
	c.once.Do(func() { c.of.remove(c) })
	return c.Conn.Close()
}
