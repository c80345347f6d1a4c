package billing

import "time"

// MostAttempts is when an event becomes a dead letter.
const MostAttempts = mostAttempts

// LookForGrace sets how often Run looks for accounts whose time of grace is over.
func (s *Service) LookForGrace(every time.Duration) { s.graceEvery = every }
