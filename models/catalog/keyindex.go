package catalog

import (
	"math/bits"
	"sort"

	"lottery/models"
)

// keyIndex is postings by number or by box, of which there may be too many for a table.
type keyIndex struct {
	postings[draw]
	key keyFunc
}

// newKeyIndex makes a table if that is worth its memory (up to 8 bytes a draw), else sorts.
func newKeyIndex(g *Game, s *scratch, keys uint64, key keyFunc) keyIndex {
	groups := keys * uint64(g.tods)
	if groups <= 2*uint64(len(g.draws)) {
		return keyIndex{tabled[draw](g, s, int(keys), key), key}
	}
	positionBits := bits.Len(uint(len(g.draws) - 1))
	packed, spare := s.keysOf(len(g.draws))
	g.eachSection(func(i uint32, at *section) {
		for p, d := range g.draws[at.base:at.end] {
			group := key(d.number())*uint64(g.tods) + uint64(i)
			packed[int(at.base)+p] = group<<positionBits | uint64(at.base) + uint64(p)
		}
	})
	packed, _ = radixSort(packed, spare, positionBits, positionBits+bits.Len64(groups))
	list := make([]draw, len(packed))
	for i, p := range packed {
		list[i] = g.draws[p&(1<<positionBits-1)]
	}
	return keyIndex{postings[draw]{list: list}, key}
}

// keyLists is the draws of one key by section.
type keyLists [models.TodCount][]draw

// lists is the draws of one key.
func (x *keyIndex) lists(g *Game, key uint64) (lists keyLists) {
	group := key * uint64(g.tods)
	if x.ends != nil {
		for i := range g.tods {
			lists[i] = x.group(int(group) + i)
		}
		return lists
	}
	rest := x.list[x.before(g, x.list, group):]
	for i := range g.tods {
		group++
		// The key has few draws, or there would be a table: look near before looking far.
		near := 1
		for near < len(rest) && x.groupOf(g, rest[near-1]) < group {
			near *= 2
		}
		near = min(near, len(rest))
		end := x.before(g, rest[:near], group)
		lists[i], rest = rest[:end], rest[end:]
	}
	return lists
}

// before is how many of list, which is a part of x.list, belong to groups before group.
func (x *keyIndex) before(g *Game, list []draw, group uint64) int {
	return sort.Search(len(list), func(i int) bool { return x.groupOf(g, list[i]) >= group })
}

func (x *keyIndex) groupOf(g *Game, d draw) uint64 {
	return x.key(d.number())*uint64(g.tods) + uint64(g.sectionOf[d.slot().tod()])
}
