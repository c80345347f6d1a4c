package sandbox

const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// newID returns a new id with Stripe's prefix and n characters after it. The first eleven encode a number that never
// repeats (splitmix64 is a bijection), so ids of one sandbox never clash.
func (s *Sandbox) newID(prefix string, n int) string {
	s.d.Seq++
	return prefix + text(mix(s.d.Seed+s.d.Seq*0x9e3779b97f4a7c15), n)
}

// newRequestID returns a request id. It does not use the counter of ids: failed or repeated requests must not change
// the ids that follow.
func (s *Sandbox) newRequestID() string {
	return "req_" + text(mix(s.d.Seed^mix(s.d.Requests)), shortID)
}

// text writes a number as n letters, deriving more numbers from it if one is too short.
func text(first uint64, n int) string {
	b := make([]byte, n)
	x := first
	for i := range b {
		if i > 0 && i%11 == 0 {
			x = mix(first + uint64(i))
		}
		b[i] = alphabet[x%62]
		x /= 62
	}
	return string(b)
}

// mix applies the finalizer of splitmix64.
func mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// The lengths of ids after their prefix, as Stripe makes them.
const (
	shortID  = 14 // cus_, prod_, si_
	longID   = 24 // sub_, price_, in_, pi_, ch_ and most others
	secretID = 32 // whsec_, client secrets
	sessID   = 58 // cs_test_
)
