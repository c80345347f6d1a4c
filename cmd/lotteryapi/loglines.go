package main

import (
	"io"
	"sync"
	"time"
)

// logLines passes log lines on to a reader that may stop reading. Its full pipe would block whoever logs, request
// counting included. So lines are queued for it and, if the queue is full, dropped; the number dropped is logged once
// it reads again.
type logLines struct {
	out  io.Writer
	more chan struct{} // holds a value when there may be lines
	done chan struct{} // closed when everything is written after close

	mu      sync.Mutex
	waiting []byte
	left    int            // lines dropped
	tell    func(left int) // logs that number; nil = not logged
	ended   bool
}

// mostWaiting is how many bytes of lines may be queued.
const mostWaiting = 1 << 20

func newLogLines(out io.Writer) *logLines {
	l := &logLines{out: out, more: make(chan struct{}, 1), done: make(chan struct{})}
	go l.run()
	return l
}

// Write queues a line. It never fails and never blocks.
func (l *logLines) Write(line []byte) (int, error) {
	l.mu.Lock()
	if len(l.waiting)+len(line) > mostWaiting {
		l.left++
	} else {
		l.waiting = append(l.waiting, line...)
	}
	l.mu.Unlock()
	l.wake()
	return len(line), nil
}

func (l *logLines) wake() {
	select {
	case l.more <- struct{}{}:
	default:
	}
}

// run writes the queue until close was called and everything is written.
func (l *logLines) run() {
	defer close(l.done)
	var lines []byte
	for range l.more {
		for {
			l.mu.Lock()
			lines, l.waiting = l.waiting, lines[:0]
			left, tell, ended := l.left, l.tell, l.ended
			l.left = 0
			l.mu.Unlock()
			if len(lines) == 0 {
				if ended {
					return
				}
				break
			}
			_, _ = l.out.Write(lines) // the reader may be gone: there is nobody left to tell
			if left > 0 && tell != nil {
				tell(left)
			}
		}
	}
}

// close writes the queue, for a second at most, and ends run. Nothing may be written afterwards.
func (l *logLines) close() {
	l.mu.Lock()
	l.ended = true
	l.mu.Unlock()
	l.wake()
	select {
	case <-l.done:
	case <-time.After(time.Second):
	}
}
