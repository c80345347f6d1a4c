package catalog

import (
	"math/bits"
	"sort"
)

// bitset is a set of indices that counts the members in a range at once, and finds the next member in either
// direction without reading long empty stretches.
type bitset struct {
	words []uint64
	ranks []uint32 // ranks[i] is how many members come before block i; one more for all
}

const (
	blockShift = 9 // log2 of the indices that one entry of ranks stands for
	wordShift  = 6
	blockWords = 1 << (blockShift - wordShift)
)

// rank counts the members, after which the set must not change.
func (b *bitset) rank() {
	b.ranks = make([]uint32, (len(b.words)+blockWords-1)/blockWords+1)
	count := 0
	for i, w := range b.words {
		if i%blockWords == 0 {
			b.ranks[i/blockWords] = uint32(count)
		}
		count += bits.OnesCount64(w)
	}
	b.ranks[len(b.ranks)-1] = uint32(count)
}

// before is how many members are less than i, which is at most the number of indices.
func (b *bitset) before(i int) int {
	block := i >> blockShift
	count := int(b.ranks[block])
	word := i >> wordShift
	for _, w := range b.words[block*blockWords : word] {
		count += bits.OnesCount64(w)
	}
	if rest := i & 63; rest > 0 {
		count += bits.OnesCount64(b.words[word] << (64 - rest))
	}
	return count
}

// next is the smallest member that is at least i. There must be one.
func (b *bitset) next(i int) int {
	word := i >> wordShift
	if w := b.words[word] >> (i & 63); w != 0 {
		return i + bits.TrailingZeros64(w)
	}
	word++
	for ; word%blockWords != 0; word++ {
		if w := b.words[word]; w != 0 {
			return word<<wordShift + bits.TrailingZeros64(w)
		}
	}
	// Blocks from here to the next member add nothing to the ranks.
	block := word / blockWords
	seen := b.ranks[block]
	block += sort.Search(len(b.ranks)-1-block, func(skip int) bool { return b.ranks[block+skip+1] > seen })
	for word = block * blockWords; b.words[word] == 0; word++ {
	}
	return word<<wordShift + bits.TrailingZeros64(b.words[word])
}

// previous is the greatest member that is less than i. There must be one.
func (b *bitset) previous(i int) int {
	i--
	word := i >> wordShift
	if w := b.words[word] << (63 - i&63); w != 0 {
		return i - bits.LeadingZeros64(w)
	}
	for word%blockWords != 0 {
		word--
		if w := b.words[word]; w != 0 {
			return word<<wordShift + 63 - bits.LeadingZeros64(w)
		}
	}
	block := word / blockWords
	seen := b.ranks[block]
	block = sort.Search(block, func(i int) bool { return b.ranks[i] >= seen }) - 1
	word = block*blockWords + blockWords - 1
	for ; b.words[word] == 0; word-- {
	}
	return word<<wordShift + 63 - bits.LeadingZeros64(b.words[word])
}
