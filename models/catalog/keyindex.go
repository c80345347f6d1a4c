package catalog

import (
	"math/bits"
	"sort"

	"lottery/models"
)

// keyIndex lists draws by number or by box; there may be too many of these for a table. It holds the draws themselves
// (8 bytes each), since those of a key may lie far apart in the game's array, and holds all tods in one list, so that a
// search of all tods reads one place. byTod (4 bytes a draw) says which draws each tod has.
type keyIndex struct {
	key    keyFunc
	list   []draw   // by key, ascending within each
	byTod  []uint32 // indices in list by key and section, ascending within each; a key's range is the same as in list
	ends   []uint32 // ends[key·tods + section] is the end of that group in byTod; nil = too many keys for a table
	groups int      // groups per key: the number of the game's tods
}

// newKeyIndex uses a table of ends if that takes at most 8 bytes a draw, else sorts.
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
	nextOfKey := room(&s.keyStarts, keys)
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
	packed, spare := room(&s.keys, len(g.draws)), room(&s.spare, len(g.draws))
	for position, d := range g.draws {
		packed[position] = x.key(d.number())<<positionBits | uint64(position)
	}
	packed = radixSort(packed, spare, positionBits, positionBits+bits.Len64(keys))
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

// find returns the range of a key's draws in list: low…high-1.
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
	// Without a table the key has few draws: look near low first.
	near := 1
	for near < len(rest) && x.key(rest[near-1].number()) == key {
		near *= 2
	}
	near = min(near, len(rest))
	return low, low + sort.Search(near, func(i int) bool { return x.key(rest[i].number()) > key })
}

// ofTod returns the indices of those draws of a key that are in a section. find has found the
// key's draws at low…high-1.
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

// within returns which draws of a key are in a window, as a range of indices in list. If tod is not 0, the range is in
// some instead, which holds indices in list.
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
