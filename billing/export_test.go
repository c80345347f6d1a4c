package billing

import "time"

// MostAttempts is after how many attempts an event becomes a dead letter.
const MostAttempts = mostAttempts

// LookForGrace sets how often Run looks for accounts whose grace period is over.
func (s *Service) LookForGrace(every time.Duration) { s.graceEvery = every }
