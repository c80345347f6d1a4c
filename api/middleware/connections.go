package middleware

import (
	"cmp"
	"context"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Connections bounds how many connections a listener has open, so that deliberately slow clients cannot exhaust a
// server. When there are too many, connections without a request in progress are closed, and those whose clients are slow
// to send a request or have stalled in taking an answer, first those that have got no answer for longest: a client that
// sends half a request and waits loses its connection before a client that makes requests. Give it to a server as
// listener (Listen), ConnState (State) and ConnContext (Context); the server must have a ReadTimeout.
type Connections struct {
	most int

	mu    sync.Mutex
	open  map[*connection]struct{}
	count uint64 // connections so far
	timed bool   // keepDeadlines is running

	ended chan struct{} // has something once a connection has ended

	many    atomic.Bool  // at least manyConnections are open
	leaving atomic.Bool  // every answer is its connection's last
	pressed atomic.Int64 // when Press last looked (nanoseconds since epoch)
	closed  *prometheus.CounterVec
}

const (
	// stalledAfter is how long writing a piece or receiving a request may take while other requests are
	// refused for lack of room.
	stalledAfter = 2 * time.Second
	// pressEvery is how often Press examines the connections.
	pressEvery = 100 * time.Millisecond
	// giveWay is the fraction (1/giveWay) of connections closed at once when there are too many, so that not every new
	// connection makes Connections search for one to close.
	giveWay = 16
	// patience is how old a connection must be before it is closed to make room: a prompt client may need that long to
	// send its request when many connect at the same moment, or if a packet is lost (systems repeat it after 200 ms).
	patience = 250 * time.Millisecond
	// mostSteps is for how many steps a new connection waits for another to give way.
	mostSteps = 2
	// waitStep is how often Wait looks.
	waitStep = 5 * time.Millisecond
	// manyConnections is the number of connections from which answers are held back until other runnable requests have
	// been answered too. With fewer, clients would often sit idle meanwhile.
	manyConnections = 16
)

// NewConnections allows at most that many connections at once; 0 = no limit.
func NewConnections(most int) *Connections {
	return &Connections{most: most, open: map[*connection]struct{}{}, ended: make(chan struct{}, 1), closed: prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "lottery_http_connections_closed_total",
		Help: "Connections closed to make room: waiting (idle), refused (all were busy), stalled (sent or read too slowly while requests were shed).",
	}, []string{"reason"})}
}

// Register adds the metrics to r.
func (s *Connections) Register(r prometheus.Registerer) {
	for _, reason := range []string{"waiting", "refused", "stalled"} {
		s.closed.WithLabelValues(reason)
	}
	r.MustRegister(s.closed, prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "lottery_http_connections", Help: "Open connections of the public listener.",
	}, func() float64 {
		s.mu.Lock()
		defer s.mu.Unlock()
		return float64(len(s.open))
	}))
}

// Listen wraps next with the bound. It may be closed more than once.
func (s *Connections) Listen(next net.Listener) net.Listener {
	return &bounded{next, s, sync.OnceValue(next.Close)}
}

type bounded struct {
	net.Listener

	of    *Connections
	close func() error
}

func (b *bounded) Close() error { return b.close() }

func (b *bounded) Accept() (net.Conn, error) {
	for {
		raw, err := b.Listener.Accept()
		if err != nil {
			return nil, err
		}
		c := &connection{Conn: raw, of: b.of}
		if b.of.add(c) {
			return c, nil
		}
	}
}

// add registers c if room can be made for it, which may involve waiting until a connection is old enough to close.
func (s *Connections) add(c *connection) bool {
	c.since = time.Since(epoch)
	c.used = c.since
	s.mu.Lock()
	s.count++
	c.number = s.count
	s.open[c] = struct{}{}
	s.many.Store(len(s.open) >= manyConnections)
	if !s.timed {
		s.timed = true
		go s.keepDeadlines()
	}
	gone, full := s.makeRoom(c)
	s.mu.Unlock()
	s.end("waiting", gone...)
	if full {
		s.end("refused", c)
	}
	return !full
}

// makeRoom returns the connections to close for newest, and whether there is no room for it even so. It releases s.mu
// while it waits for a connection to become old enough, for a client to turn out to be slow, or for this server to read
// what has arrived.
func (s *Connections) makeRoom(newest *connection) (gone []*connection, full bool) {
	for steps := 0; s.most > 0 && len(s.open) > s.most; {
		list := s.unused(func(c *connection) bool { return c != newest && c.givesWay() })
		old, wait := patient(list)
		if wait > 0 {
			s.pause(wait)
			continue
		}
		if gone = silent(old, s.most/giveWay+1); len(gone) > 0 {
			return gone, false
		}
		if steps++; steps > mostSteps || len(list) == 0 && len(s.unused((*connection).sends)) == 0 {
			return nil, true
		}
		s.pause(deadlineStep)
	}
	return nil, false
}

// patient returns the first of the list that are old enough to be closed, or how long until the first of them is.
func patient(list []*connection) (old []*connection, wait time.Duration) {
	now := time.Since(epoch)
	young := slices.IndexFunc(list, func(c *connection) bool { return c.since+patience > now })
	switch young {
	case -1:
		return list, 0
	case 0:
		return nil, list[0].since + patience - now
	default:
		return list[:young], 0
	}
}

// silent returns the first connections of the list, most at most, that have sent nothing which this server has yet to
// read.
func silent(list []*connection, most int) (found []*connection) {
	for _, c := range list {
		if len(found) < most && !c.unread() {
			found = append(found, c)
		}
	}
	return found
}

// pause waits without s.mu, which is held, but no longer than until a connection has ended.
func (s *Connections) pause(most time.Duration) {
	select {
	case <-s.ended: // before
	default:
	}
	s.mu.Unlock()
	defer s.mu.Lock()
	select {
	case <-s.ended:
	case <-time.After(most):
	}
}

// unused returns the connections that match, longest unused first. s.mu is held.
func (s *Connections) unused(match func(*connection) bool) []*connection {
	var list []*connection
	now, used := time.Since(epoch), map[*connection]time.Duration{}
	for c := range s.open {
		if match(c) {
			list, used[c] = append(list, c), c.usedBy(now)
		}
	}
	slices.SortFunc(list, func(a, b *connection) int {
		return cmp.Or(cmp.Compare(used[a], used[b]), cmp.Compare(a.number, b.number))
	})
	return list
}

// Press makes room for requests: while some are refused, it closes connections whose clients have stalled in taking an
// answer or in sending a request.
func (s *Connections) Press() {
	now := int64(time.Since(epoch)) // not by the wall clock, which may be set back
	last := s.pressed.Load()
	if now-last < int64(pressEvery) || !s.pressed.CompareAndSwap(last, now) {
		return
	}
	s.mu.Lock()
	var list []*connection
	for c := range s.open {
		if c.stalled() {
			list = append(list, c)
		}
	}
	s.mu.Unlock()
	s.end("stalled", list...)
}

func (s *Connections) end(reason string, list ...*connection) {
	for _, c := range list {
		s.closed.WithLabelValues(reason).Inc()
		if tcp, ok := c.Conn.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0) // discard what the client has not taken, instead of letting the system keep it
		}
		_ = c.drop() // it is closed even if that fails
	}
}

// State is the server's ConnState.
func (s *Connections) State(c net.Conn, state http.ConnState) {
	if own, ok := c.(*connection); ok {
		own.busy.Store(state == http.StateActive)
	}
}

// Context is the server's ConnContext: it is canceled when the client goes away.
func (s *Connections) Context(ctx context.Context, c net.Conn) context.Context {
	if own, ok := c.(*connection); ok {
		ctx, own.cancel = context.WithCancel(ctx)
	}
	return ctx
}

// Handler is next, and after Leave tells each client that its connection ends with the answer.
func (s *Connections) Handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.leaving.Load() {
			w.Header().Set("Connection", "close")
		}
		next.ServeHTTP(w, r)
	})
}

// Leave makes every answer from now on its connection's last, and says so in it: a client that keeps a connection must
// learn that the server stops before it sends a request that nobody would answer (decision 0032).
func (s *Connections) Leave() { s.leaving.Store(true) }

// Wait returns when no connection is open any more, or after most.
func (s *Connections) Wait(most time.Duration) {
	for end := time.Now().Add(most); time.Now().Before(end); time.Sleep(waitStep) {
		s.mu.Lock()
		open := len(s.open)
		s.mu.Unlock()
		if open == 0 {
			return
		}
	}
}

// CloseWaiting closes connections without a request in progress. Call it when net/http's Shutdown has begun: nothing that
// arrives on them is answered any more, but Shutdown waits 5 seconds for those that have never sent a request.
func (s *Connections) CloseWaiting() {
	s.mu.Lock()
	list := s.unused(func(c *connection) bool { return !c.busy.Load() })
	s.mu.Unlock()
	for _, c := range list {
		_ = c.Close() // it is closed even if that fails
	}
}

func (s *Connections) remove(c *connection) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, c)
	s.many.Store(len(s.open) >= manyConnections)
	select {
	case s.ended <- struct{}{}:
	default:
	}
}

// keepDeadlines steps through the connections periodically until none is open.
func (s *Connections) keepDeadlines() {
	tick := time.NewTicker(deadlineStep)
	defer tick.Stop()
	for range tick.C {
		now := int64(time.Since(epoch))
		s.mu.Lock()
		for c := range s.open {
			c.step(now)
		}
		s.timed = len(s.open) > 0
		on := s.timed
		s.mu.Unlock()
		if !on {
			return
		}
	}
}
