package catalog

const (
	radixBits = 11 // 2048 counters stay in the L1 cache
	radixSize = 1 << radixBits
)

// radixSort sorts keys ascending by their bits low…high-1, keeping the order of equal ones (a stable
// least-significant-digit radix sort). spare must be as long as keys. The result is in one of the two; the contents
// of the other are garbage.
func radixSort[K ~uint64](keys, spare []K, low, high int) (sorted []K) {
	for shift := low; shift < high; shift += radixBits {
		mask := K(1)<<min(radixBits, high-shift) - 1
		var next [radixSize]uint32
		for _, k := range keys {
			next[k>>shift&mask]++
		}
		start := uint32(0)
		for digit := range next {
			next[digit], start = start, start+next[digit]
		}
		for _, k := range keys {
			digit := k >> shift & mask
			spare[next[digit]] = k
			next[digit]++
		}
		keys, spare = spare, keys
	}
	return keys
}
