package main

import (
	"io"
	"sync"
	"time"
)

// logLines hands lines on to whoever reads the log, who may not: a reader that hangs leaves its pipe full, and would hold
// up whoever has something to say, the counting of requests among them. Lines wait for him, and further ones are left
// out; how many is said once he reads again.
type logLines struct {
	out  io.Writer
	more chan struct{} // holds a value when there may be lines
	done chan struct{} // closed when all is written after the end

	mu      sync.Mutex
	waiting []byte
	left    int            // lines that were left out
	tell    func(left int) // writes a line of that; nil = nobody does
	ended   bool
}

// mostWaiting is bytes of lines that wait.
const mostWaiting = 1 << 20

func newLogLines(out io.Writer) *logLines {
	l := &logLines{out: out, more: make(chan struct{}, 1), done: make(chan struct{})}
	go l.run()
	return l
}

// Write takes a line. It never fails, and never waits.
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

// run writes what waits until close was called and all is written.
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
			_, _ = l.out.Write(lines) // whoever reads may have gone away: there is nobody left to tell
			if left > 0 && tell != nil {
				tell(left)
			}
		}
	}
}

// close writes what waits, for a second at most, and ends. Nothing may be written afterwards.
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
