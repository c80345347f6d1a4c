package middleware

// Waiting is how many look-ups are still to be read.
func (k *Keys) Waiting() int {
	k.lookUps.mu.Lock()
	defer k.lookUps.mu.Unlock()
	return len(k.lookUps.waiting)
}
