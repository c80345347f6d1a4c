package catalog

import (
	"math/bits"
	"sort"
)

// bitset is a set of indices. It counts the members in a range quickly, and finds the next member in either direction
// without reading long empty stretches.
type bitset struct {
	words []uint64
	mask  []uint64 // only bits that are also set here are members; nil = all are
	ranks []uint32 // ranks[i] is the number of members before block i; the last entry is the total
}

const (
	blockShift = 9 // log2 of the number of indices per entry of ranks
	wordShift  = 6
	wordMask   = 1<<wordShift - 1
	blockWords = 1 << (blockShift - wordShift)
)

// wordsFor is how many words hold n indices.
func wordsFor(n int) int { return (n + wordMask) >> wordShift }

// newBitset returns the intersection of words and mask (nil = all). Neither may change afterwards.
func newBitset(words, mask []uint64) bitset {
	b := bitset{words, mask, make([]uint32, (len(words)+blockWords-1)/blockWords+1)}
	count := 0
	for i := range words {
		if i%blockWords == 0 {
			b.ranks[i/blockWords] = uint32(count)
		}
		count += bits.OnesCount64(b.word(i))
	}
	b.ranks[len(b.ranks)-1] = uint32(count)
	return b
}

func (b *bitset) word(i int) uint64 {
	if b.mask == nil {
		return b.words[i]
	}
	return b.words[i] & b.mask[i]
}

// before is the number of members less than i, which must not exceed the number of indices.
func (b *bitset) before(i int) int {
	word := i >> wordShift
	count := int(b.ranks[word/blockWords])
	for at := word &^ (blockWords - 1); at < word; at++ {
		count += bits.OnesCount64(b.word(at))
	}
	if rest := i & wordMask; rest > 0 {
		count += bits.OnesCount64(b.word(word) << (64 - rest))
	}
	return count
}

// next returns the smallest member that is at least i. There must be one.
func (b *bitset) next(i int) int {
	word := i >> wordShift
	if w := b.word(word) >> (i & wordMask); w != 0 {
		return i + bits.TrailingZeros64(w)
	}
	word++
	for ; word%blockWords != 0; word++ {
		if w := b.word(word); w != 0 {
			return word<<wordShift + bits.TrailingZeros64(w)
		}
	}
	// Skip blocks without members by searching the ranks, which do not grow there.
	block := word / blockWords
	seen := b.ranks[block]
	block += sort.Search(len(b.ranks)-1-block, func(skip int) bool { return b.ranks[block+skip+1] > seen })
	for word = block * blockWords; b.word(word) == 0; word++ {
	}
	return word<<wordShift + bits.TrailingZeros64(b.word(word))
}

// previous returns the greatest member less than i. There must be one.
func (b *bitset) previous(i int) int {
	i--
	word := i >> wordShift
	if w := b.word(word) << (wordMask - i&wordMask); w != 0 {
		return i - bits.LeadingZeros64(w)
	}
	for word%blockWords != 0 {
		word--
		if w := b.word(word); w != 0 {
			return word<<wordShift + wordMask - bits.LeadingZeros64(w)
		}
	}
	block := word / blockWords
	seen := b.ranks[block]
	block = sort.Search(block, func(i int) bool { return b.ranks[i] >= seen }) - 1
	word = block*blockWords + blockWords - 1
	for ; b.word(word) == 0; word-- {
	}
	return word<<wordShift + wordMask - bits.LeadingZeros64(b.word(word))
}
