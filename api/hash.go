package api

// hash is 64-bit FNV-1a: the same on every node and in every build, unlike a seeded hash.
type hash uint64

func newHash() hash { return 14695981039346656037 }

// text adds s and an end mark, so that ("ab","c") and ("a","bc") differ.
func (h hash) text(s string) hash {
	for i := range len(s) {
		h = (h ^ hash(s[i])) * 1099511628211
	}
	return (h ^ 0xff) * 1099511628211
}
