package sandbox

import (
	"container/heap"
	"time"
)

// Now returns the sandbox's time: that of the clock beneath it, plus what Advance added.
func (s *Sandbox) Now() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.clock()
}

// Advance moves the sandbox's clock forward and does everything that falls due on the way, in order, each at its own
// time. It does not wait for webhooks: those that fall due are sent after the move, so that a long step runs several
// retries together. Quiesce waits for them; shorter steps give each retry its own time.
func (s *Sandbox) Advance(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.catchUp()
	s.d.Offset += max(0, d)
	s.dirty = true
	s.catchUp()
}

// clock returns the sandbox's time, or the time of the step that is being run. s.mu is held.
func (s *Sandbox) clock() time.Time {
	if s.at != 0 {
		return time.Unix(s.at, 0).UTC()
	}
	return s.beneath().Add(s.d.Offset).UTC()
}

// beneath returns the time of the clock beneath the sandbox's, which Advance does not move.
func (s *Sandbox) beneath() time.Time {
	if s.opts.Now != nil {
		return s.opts.Now()
	}
	return time.Now()
}

func (s *Sandbox) now() int64 { return s.clock().Unix() }

// step is a point in time at which a record is to be run.
type step struct {
	at  int64
	seq uint64 // at the same time: first planned, first run
	r   record
}

// agenda is a heap of steps. A step is stale, and skipped, if its record is no longer due at that time.
type agenda struct {
	steps []step
	seq   uint64
}

func (a *agenda) Len() int { return len(a.steps) }
func (a *agenda) Less(i, j int) bool {
	x, y := a.steps[i], a.steps[j]
	return x.at < y.at || x.at == y.at && x.seq < y.seq
}
func (a *agenda) Swap(i, j int) { a.steps[i], a.steps[j] = a.steps[j], a.steps[i] }
func (a *agenda) Push(x any)    { a.steps = append(a.steps, x.(step)) } //nolint:forcetypeassert // heap.Push is called here only
func (a *agenda) Pop() any {
	last := a.steps[len(a.steps)-1]
	a.steps = a.steps[:len(a.steps)-1]
	return last
}

// plan schedules a record's next run. It is called after each change of the record.
func (s *Sandbox) plan(r record) {
	at := r.due(s)
	if at == 0 {
		return
	}
	s.agenda.seq++
	heap.Push(&s.agenda, step{at, s.agenda.seq, r})
	if s.at == 0 {
		s.arm()
	}
}

// catchUp runs everything that is due. During a step, the clock stands at that step's time.
func (s *Sandbox) catchUp() {
	if s.at != 0 {
		return // already running
	}
	now := s.now()
	for s.agenda.Len() > 0 && s.agenda.steps[0].at <= now {
		next, _ := heap.Pop(&s.agenda).(step)
		if next.r.due(s) != next.at {
			continue
		}
		s.at = next.at
		next.r.run(s)
		if next.r.due(s) != next.at { // run itself plans the next step; a record that stays due would never end
			s.plan(next.r)
		}
	}
	s.at = 0
	s.arm()
	s.kick()
}

// arm sets the timer for the next step, if time passes by itself.
func (s *Sandbox) arm() {
	if s.opts.Now != nil || s.closed || s.agenda.Len() == 0 {
		return
	}
	wait := max(time.Until(time.Unix(s.agenda.steps[0].at, 0).Add(-s.d.Offset)), time.Millisecond)
	if s.timer != nil {
		s.timer.Reset(wait)
		return
	}
	s.timer = time.AfterFunc(wait, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if !s.closed {
			s.catchUp()
			s.saveSoon()
		}
	})
}
