package billing

import (
	"context"
	"time"
)

// MostAttempts is after how many attempts an event becomes a dead letter.
const MostAttempts = mostAttempts

// LookForGrace sets how often Run looks for accounts whose grace period is over.
func (s *Service) LookForGrace(every time.Duration) { s.graceEvery = every }

// EndGrace looks once for accounts whose grace period is over, and syncs them.
func (s *Service) EndGrace(ctx context.Context) { s.endGrace(ctx) }

// Work claims the due events once, processes them and returns how many there were. Run does so again and again.
func (s *Service) Work(ctx context.Context) (int, error) {
	b, err := s.take(ctx)
	if b == nil {
		return 0, err
	}
	n := len(b.events)
	s.workOff(ctx, b)
	return n, err
}
