package catalog

import (
	"math/bits"
	"sort"

	"lottery/models"
)

// keyIndex lists draws by number or by box, of which there may be too many for a table. It holds the draws themselves
// (8 bytes), which saves a look at each where those of a key lie far apart, in one list for all tods, so that a search
// that wants them all looks into one place; and says which of them each tod has (4 bytes).
type keyIndex struct {
	key    keyFunc
	list   []draw   // by key, ascending in each
	byTod  []uint32 // indices of list, by key and section, ascending in each: those of a key are where its draws are
	ends   []uint32 // ends[key·tods + section] is where that group ends in byTod; nil if there are too many for a table
	groups int      // of a key: how many tods the game has
}

// newKeyIndex makes a table if that is worth its memory (up to 8 bytes a draw), else sorts.
func newKeyIndex(g *Game, s *scratch, keys uint64, key keyFunc) keyIndex {
	x := keyIndex{key: key, list: make([]draw, len(g.draws)), byTod: make([]uint32, len(g.draws)), groups: len(g.sections)}
	if keys*uint64(x.groups) <= 2*uint64(len(g.draws)) {
		x.fillTable(g, s, int(keys))
	} else {
		x.fillSorted(g, s, keys)
	}
	return x
}

func (x *keyIndex) fillTable(g *Game, s *scratch, keys int) {
	groups, next := g.groups(s, keys, x.key)
	nextOfKey := s.keyStartsOf(keys)
	for key := range nextOfKey {
		nextOfKey[key] = next[key*x.groups]
	}
	for position, group := range groups {
		at := &nextOfKey[int(group)/x.groups]
		x.list[*at] = g.draws[position]
		x.byTod[next[group]] = *at
		*at++
		next[group]++
	}
	x.ends = next[:len(next)-1]
}

func (x *keyIndex) fillSorted(g *Game, s *scratch, keys uint64) {
	positionBits := bits.Len(uint(len(g.draws) - 1))
	packed, spare := s.keysOf(len(g.draws))
	for position, d := range g.draws {
		packed[position] = x.key(d.number())<<positionBits | uint64(position)
	}
	packed, _ = radixSort(packed, spare, positionBits, positionBits+bits.Len64(keys))
	for i, p := range packed {
		x.list[i] = g.draws[p&(1<<positionBits-1)]
	}
	for low := 0; low < len(packed); {
		high := low + 1
		for high < len(packed) && packed[high]>>positionBits == packed[low]>>positionBits {
			high++
		}
		next := low
		for i := range g.sections {
			for at := low; at < high; at++ {
				if x.list[at].slot().tod() == g.sections[i].tod {
					x.byTod[next] = uint32(at)
					next++
				}
			}
		}
		low = high
	}
}

// find is where the draws of a key are in list: low…high-1.
func (x *keyIndex) find(key uint64) (low, high int) {
	if x.ends != nil {
		group := int(key) * x.groups
		if group > 0 {
			low = int(x.ends[group-1])
		}
		return low, int(x.ends[group+x.groups-1])
	}
	low = sort.Search(len(x.list), func(i int) bool { return x.key(x.list[i].number()) >= key })
	rest := x.list[low:]
	// The key has few draws, or there would be a table: look near before looking far.
	near := 1
	for near < len(rest) && x.key(rest[near-1].number()) == key {
		near *= 2
	}
	near = min(near, len(rest))
	return low, low + sort.Search(near, func(i int) bool { return x.key(rest[i].number()) > key })
}

// ofTod is the indices of the draws of one section among those of a key, which find has found at low…high-1.
func (x *keyIndex) ofTod(g *Game, key uint64, low, high int, section uint8) []uint32 {
	if x.ends != nil {
		group := int(key)*x.groups + int(section)
		if group > 0 {
			low = int(x.ends[group-1])
		}
		return x.byTod[low:x.ends[group]]
	}
	list := x.byTod[low:high]
	before := func(section uint8) int {
		return sort.Search(len(list), func(i int) bool { return g.sectionOf[x.list[list[i]].slot().tod()] >= section })
	}
	return list[before(section):before(section+1)]
}

// within is which draws of a key a window has, as indices of list; or for a tod, as indices of some, which name the
// draws in list.
func (x *keyIndex) within(g *Game, w *span[slot], key uint64, tod models.Tod) (p span[int], some []uint32) {
	low, high := x.find(key)
	draws := x.list[low:high]
	p = w.mapped(func(at slot) int { return low + g.among(draws, at) })
	if tod == 0 {
		return p, nil
	}
	section := g.section(tod)
	if section < 0 || low == high {
		return span[int]{}, nil
	}
	some = x.ofTod(g, key, low, high, uint8(section))
	return p.mapped(func(index int) int {
		return bound(some, uint32(index), (index-low)*len(some)/(high-low))
	}), some
}
