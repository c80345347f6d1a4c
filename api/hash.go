package api

// hash is FNV-1a, 64 bits: the same on every node and build, which a seeded hash is not.
type hash uint64

func newHash() hash { return 14695981039346656037 }

// text adds s and its end, so that ("ab","c") and ("a","bc") differ.
func (h hash) text(s string) hash {
	for i := range len(s) {
		h = (h ^ hash(s[i])) * 1099511628211
	}
	return (h ^ 0xff) * 1099511628211
}
