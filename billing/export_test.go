package billing

// MostAttempts is when an event becomes a dead letter.
const MostAttempts = mostAttempts
