package sandbox

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"sync"
	"time"
)

// deliveryClient returns a copy of c (nil = a default client) that follows no redirects, as Stripe does not.
func deliveryClient(c *http.Client) *http.Client {
	if c == nil {
		c = &http.Client{}
	}
	copied := *c
	copied.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &copied
}

// kick starts workers for the queued deliveries.
func (s *Sandbox) kick() {
	for s.workers < s.opts.Workers && len(s.queue) > 0 && !s.closed {
		d := s.queue[0]
		s.queue = s.queue[1:]
		s.workers++
		s.done.Go(func() { s.work(d) })
	}
}

// work attempts d and then the queued deliveries, until the queue is empty.
func (s *Sandbox) work(d *delivery) {
	for d != nil {
		s.send(d)
		s.mu.Lock()
		d = nil
		if len(s.queue) > 0 && !s.closed {
			d, s.queue = s.queue[0], s.queue[1:]
		} else {
			s.workers--
			s.saveSoon()
			s.idle.Broadcast()
		}
		s.mu.Unlock()
	}
}

// send makes one attempt, sending as many copies as the delivery wants.
func (s *Sandbox) send(d *delivery) {
	s.mu.Lock()
	url, signature, body, ok := s.message(d)
	copies, atOnce := max(1, d.Copies), d.AtOnce
	s.mu.Unlock()
	results := make([]Attempt, copies)
	switch {
	case !ok:
		results = []Attempt{{Error: "the endpoint is disabled or deleted"}}
	case atOnce:
		var all sync.WaitGroup
		for i := range results {
			all.Go(func() { results[i] = s.post(url, signature, body) })
		}
		all.Wait()
	default:
		for i := range results {
			results[i] = s.post(url, signature, body)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.attempted(d, results[0])
}

// deliveryTimeout bounds one delivery attempt.
const deliveryTimeout = 20 * time.Second

// post sends a webhook. Anything but a 2xx before the timeout is a failure.
func (s *Sandbox) post(url, signature string, body []byte) Attempt {
	ctx, cancel := context.WithTimeout(s.ctx, deliveryTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return Attempt{Error: err.Error()}
	}
	req.Header.Set("Content-Type", "application/json; charset=utf-8")
	req.Header.Set("User-Agent", "Stripe/1.0 (+https://stripe.com/docs/webhooks)")
	req.Header.Set("Stripe-Signature", signature)
	resp, err := s.opts.Client.Do(req)
	if err != nil {
		return Attempt{Error: err.Error()}
	}
	defer resp.Body.Close() //nolint:errcheck // read to its end or given up
	if _, err := io.CopyN(io.Discard, resp.Body, 1<<16); err != nil && !errors.Is(err, io.EOF) {
		return Attempt{Status: resp.StatusCode, Error: err.Error()}
	}
	return Attempt{Status: resp.StatusCode}
}

var errClosed = errors.New("the sandbox is closed")

// Quiesce waits until everything due has been done and every webhook due has been attempted. It does not wait for
// webhooks that are held, delayed, or waiting for their next attempt.
func (s *Sandbox) Quiesce(ctx context.Context) error {
	stop := context.AfterFunc(ctx, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.idle.Broadcast()
	})
	defer stop()
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		s.catchUp()
		if s.workers == 0 && len(s.queue) == 0 {
			return nil
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if s.closed {
			return errClosed
		}
		s.idle.Wait()
	}
}

// Release sends the webhooks that a fault held, one after the other in the given order: OrderSent, OrderReversed or
// OrderRandom. It returns how many there were, after each has been attempted.
func (s *Sandbox) Release(ctx context.Context, order string) (int, error) {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return 0, errClosed
	}
	held := s.release(order)
	s.done.Add(1)
	s.mu.Unlock()
	defer s.done.Done()
	for i, d := range held {
		if err := ctx.Err(); err != nil {
			s.mu.Lock()
			for _, rest := range held[i:] {
				rest.State, rest.queued = deliveryHeld, false
			}
			s.mu.Unlock()
			return i, err
		}
		s.send(d)
	}
	return len(held), nil
}

// The orders in which held webhooks are released.
const (
	OrderSent     = "sent"
	OrderReversed = "reversed"
	OrderRandom   = "random"
)

// wait pauses for d, or until one of the contexts ends; it reports whether the pause was complete.
func wait(d time.Duration, ctxs ...context.Context) bool {
	all, cancel := context.WithCancel(ctxs[0])
	defer cancel()
	for _, ctx := range ctxs[1:] {
		defer context.AfterFunc(ctx, cancel)()
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-all.Done():
		return false
	}
}
