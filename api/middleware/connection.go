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

// connection is a client's connection. For every request net/http sets eight deadlines and starts reading one byte of
// the next request, to notice a client that goes away. If an answer takes microseconds that is a tenth of its cost, and
// a third on a lone connection. Here deadlines are only recorded; one clock enforces them for all connections, slightly
// late. And the connection itself watches for its client, but only once a request has taken a moment.
type connection struct {
	net.Conn

	of     *Connections
	number uint64
	since  time.Duration      // when it was accepted, after epoch
	cancel context.CancelFunc // cancels the requests' context; nil = Connections.Context was not called
	busy   atomic.Bool        // a request is being answered
	writes atomic.Uint64      // odd while a piece is being written
	awaits atomic.Bool        // a read is waiting for more of a request, or for the next one
	once   sync.Once

	readBy atomic.Int64 // the read deadline as a moment; 0 = none, negative = at once
	begun  atomic.Bool  // something was written since the last read: an answer is on its way

	sending sync.Mutex          // serializes writes; guards held
	held    *[serverBuffer]byte // the first piece of an answer whose rest is still to come; nil = none

	holding atomic.Bool // held is not nil

	mu      sync.Mutex // guards what follows
	writeBy int64
	used    time.Duration // the step at which something new had been written, after epoch; before the first, since
	stuck   struct {      // for how many steps this write, or the wait for the rest of a request, has lasted
		write uint64
		steps int
		waits int
	}
	seenHolding bool                       // held was not nil at the last step
	overdue     struct{ read, write bool } // the network's own deadline was set, to end a pending read or write
	ahead       lookAhead
	watched     chan struct{} // closed when watch has seen something
	came        []byte        // what watch saw: the first byte of the next request
}

// lookAhead is the state of watching for a client that goes away.
type lookAhead uint8

const (
	aheadNone     lookAhead = iota
	aheadNew                // a request began
	aheadLong               // it was still running at a step
	aheadWatching           // and at the next step
)

// deadlineStep is how often deadlines are checked. They are enforced up to one step late, and a client that goes
// away is noticed after two.
const deadlineStep = 100 * time.Millisecond

const (
	// serverBuffer is the size of net/http's write buffer: the first piece of a longer answer has this size.
	serverBuffer = 4 << 10
	// shortAnswer is the length from which an answer is sent at once, since it would not stay in the processor's cache.
	shortAnswer = 32 << 10
)

var pieces = sync.Pool{New: func() any { return new([serverBuffer]byte) }}

// longAgo is a deadline in the past.
var longAgo = time.Unix(1, 0)

// moment is t in nanoseconds since epoch; 0 = no deadline.
func moment(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	if at := int64(t.Sub(epoch)); at != 0 {
		return at
	}
	return -1
}

// SetDeadline sets the read and the write deadline.
func (c *connection) SetDeadline(t time.Time) error {
	if err := c.SetReadDeadline(t); err != nil {
		return err
	}
	return c.SetWriteDeadline(t)
}

// SetReadDeadline makes reads fail that wait beyond t.
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

// SetWriteDeadline makes writes fail that wait beyond t.
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

// step ends what has waited beyond its deadline at now, starts watching the client of a request that takes long, and
// checks whether the client reads what is written.
func (c *connection) step(now int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch write := c.writes.Load(); {
	case write != c.stuck.write:
		c.stuck.write, c.stuck.steps, c.used = write, 0, time.Duration(now)
	case write%2 == 1:
		c.stuck.steps++
	}
	if c.sends() {
		c.stuck.waits++
	} else {
		c.stuck.waits = 0
	}
	holding := c.holding.Load()
	if holding && c.seenHolding {
		go c.release() // the handler sends its answer in small parts
	}
	c.seenHolding = holding
	if by := c.readBy.Load(); by != 0 && by <= now && !c.overdue.read {
		c.overdue.read = true
		_ = c.Conn.SetReadDeadline(longAgo) // fails only if the connection is closed
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

// looksAhead reports whether a read is the one by which net/http notices a client that goes away: it asks for one byte
// and has no deadline, which reads of the rest of a request always have. Read answers it with no bytes, which ends it:
// to wait and be woken again when the answer is ready costs a twentieth of the answer.
func (c *connection) looksAhead(b []byte) bool {
	return len(b) == 1 && c.readBy.Load() == 0 && c.busy.Load()
}

// lookAhead lets step watch for the client if the request takes long, unless a byte of its next request has been seen.
func (c *connection) lookAhead() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ahead != aheadWatching && len(c.came) == 0 {
		c.ahead = aheadNew
	}
}

// watch waits until the client of a long request sends its next request or goes away. In the latter case it cancels
// the context of the handler.
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

// seen waits for watch to end, ends the watching, and returns the byte that watch saw, if any.
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

// Write sends b. If net/http cuts an answer because its buffer is full, that first piece is held back and sent with
// the rest. Before a short, complete answer Write yields to other runnable requests if there are many connections:
// their answers are then written back to back, and a client on this machine, such as a proxy, is woken once for many
// of them (decision 0025).
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

// hold keeps the first piece of an answer until the next one comes. c.sending is held.
func (c *connection) hold(b []byte) {
	piece, _ := pieces.Get().(*[serverBuffer]byte)
	copy(piece[:], b)
	c.held = piece
	c.holding.Store(true)
}

// send sends the held piece, if any, and b. c.sending is held.
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

// forget drops the held piece. c.sending is held.
func (c *connection) forget() {
	pieces.Put(c.held)
	c.held = nil
	c.holding.Store(false)
}

// release sends the held piece because nothing follows for now, unless a write is in progress.
func (c *connection) release() {
	if c.holding.Load() && c.sending.TryLock() {
		if c.held != nil {
			_, _ = c.send(nil) // the next write reports the error
		}
		c.sending.Unlock()
	}
}

// stalled reports whether for stalledAfter the client has not taken a piece of its answer, or has
// been sending its request.
func (c *connection) stalled() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return max(c.stuck.steps, c.stuck.waits) >= int(stalledAfter/deadlineStep)
}

// givesWay reports whether the connection may be closed to make room for another: no request is in progress, or its
// client is the one that is waited for. net/http waits for the rest of a request even after the handler has answered.
func (c *connection) givesWay() bool {
	if !c.busy.Load() {
		return true
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.stuck.waits > 0 && c.sends() || c.stuck.steps >= int(stalledAfter/deadlineStep)
}

// sends reports whether the rest of a request is waited for.
func (c *connection) sends() bool { return c.busy.Load() && c.awaits.Load() }

// unread reports whether this server is the one that is waited for: something that the client sent has arrived and is
// not read, or not dealt with.
func (c *connection) unread() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.stuck.steps < int(stalledAfter/deadlineStep) && (arrived(c.Conn) || !c.awaits.Load())
}

// usedBy returns when, as known at now and to a step, the client was last sent something; before that, when it came.
func (c *connection) usedBy(now time.Duration) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.writes.Load() != c.stuck.write {
		return now
	}
	return c.used
}

// CloseWrite lets net/http end an answer before it has read the whole request, so that the client gets the answer.
func (c *connection) CloseWrite() error {
	c.release()
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

// Close sends the held piece and closes the connection.
func (c *connection) Close() error {
	c.release()
	return c.drop()
}

// drop closes the connection without sending the held piece.
func (c *connection) drop() error {
	c.once.Do(func() { c.of.remove(c) })
	return c.Conn.Close()
}
