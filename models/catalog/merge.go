package catalog

import (
	"math"
	"slices"
	"sync"
)

// merge collects runs of draws, each in list order, and lists them as one.
type merge struct {
	number uint64 // draws of this number are exact; notSearched outside of Search
	total  int    // draws of all runs, ignoring cursor and limit
	left   int    // draws after the cursor
	runs   []run
	heap   []head
	queues []queue
	order  mergeOrder // whose draw is next, for all draws of the key; nil = compare the heads
	low    int        // range in order of the draws after the cursor: low…high-1
	high   int
	read   draw // keeps the compiler from discarding readAhead's reads
}

const notSearched = math.MaxUint64 // larger than any number

var merges sync.Pool // of *merge

func newMerge(number uint64) *merge {
	m, ok := merges.Get().(*merge)
	if !ok { // the pool is empty
		m = new(merge)
	}
	m.number = number
	return m
}

// release returns m to the pool, without references that would keep an old catalog in memory.
func (m *merge) release() {
	clear(m.runs)
	clear(m.queues)
	*m = merge{runs: m.runs[:0], heap: m.heap[:0], queues: m.queues[:0]}
	merges.Put(m)
}

// addAll adds every draw of g that matches q.
func (m *merge) addAll(g *Game, q *Query) {
	if q.Tod != 0 {
		if i := g.section(q.Tod); i >= 0 {
			m.addSet(g, q, &g.sections[i].draws)
		}
		return
	}
	w := g.window(q)
	m.push(w.mapped(g.before), run{game: g, draws: g.draws})
}

// addPostings adds the draws of a key that match q.
func (m *merge) addPostings(g *Game, q *Query, postings *postings, key int) {
	w := g.window(q)
	p := w.mapped(g.before)
	for i := range g.sections {
		if s := &g.sections[i]; s.wanted(q) {
			list := postings.group(key*len(g.sections) + i)
			m.push(p.mapped(func(position int) int { return s.below(list, position) }), run{game: g, draws: g.draws, list: list})
		}
	}
}

// addKey adds the draws of a key that match q.
func (m *merge) addKey(g *Game, q *Query, x *keyIndex, key uint64) {
	w := g.window(q)
	p, list := x.within(g, &w, key, q.Tod)
	m.low += p.restLow
	m.high += p.restHigh
	m.push(p, run{game: g, draws: x.list, list: list})
}

// readAhead reads what addKey and countKey will read first, so that a search of several games waits for memory once, not
// once for each list.
func (m *merge) readAhead(g *Game, q *Query, x *keyIndex, key uint64) {
	if x.ends == nil {
		return // finding the key is most of the work
	}
	w := g.window(q)
	low, high := x.find(key)
	list := x.list[low:high]
	m.read ^= g.touch(list, w.low) ^ g.touch(list, w.high)
	if w.restLow != w.low {
		m.read ^= g.touch(list, w.restLow)
	}
	if w.restHigh != w.high {
		m.read ^= g.touch(list, w.restHigh)
	}
}

// countKey returns how much addKey would add to the total.
func countKey(g *Game, q *Query, x *keyIndex, key uint64) int {
	w := g.window(&Query{From: q.From, To: q.To})
	p, _ := x.within(g, &w, key, q.Tod)
	return p.high - p.low
}

// addSet adds the draws that match q and whose positions are in the set.
func (m *merge) addSet(g *Game, q *Query, set *bitset) {
	w := g.window(q)
	p := w.mapped(g.before)
	members := p.mapped(set.before)
	m.total += members.high - members.low
	if left := members.restHigh - members.restLow; left > 0 {
		m.left += left
		m.runs = append(m.runs, run{game: g, draws: g.draws, set: set, left: left, low: p.restLow, high: p.restHigh})
	}
}

// push adds run r with the bounds p, which are indices of the run.
func (m *merge) push(p span[int], r run) {
	m.total += p.high - p.low
	if r.left = p.restHigh - p.restLow; r.left > 0 {
		r.low, r.high = p.restLow, p.restHigh
		m.left += r.left
		m.runs = append(m.runs, r)
	}
}

// page lists the draws after the cursor, up to the limit.
func (m *merge) page(q *Query, dst []Ref) Page {
	count := m.left
	if q.Limit > 0 {
		count = min(count, q.Limit)
	}
	dst = slices.Grow(dst, count)
	switch {
	case len(m.runs) > 1 && m.order != nil:
		dst = m.inMergeOrder(q.Ascending, count, dst)
	case len(m.runs) > 1:
		dst = m.merged(q.Ascending, count, dst)
	case len(m.runs) == 1 && m.runs[0].adjacent():
		dst = m.neighbours(q.Ascending, count, dst)
	case len(m.runs) == 1:
		dst = m.scattered(q.Ascending, count, dst)
	}
	return Page{Refs: dst, Total: m.total, More: m.left > count}
}

// neighbours lists draws of the only run, which are adjacent in memory.
func (m *merge) neighbours(ascending bool, count int, dst []Ref) []Ref {
	r := &m.runs[0]
	if ascending {
		for _, d := range r.draws[r.low : r.low+count] {
			dst = append(dst, m.ref(r.game, d))
		}
		return dst
	}
	for _, d := range slices.Backward(r.draws[r.high-count : r.high]) {
		dst = append(dst, m.ref(r.game, d))
	}
	return dst
}

// scattered lists draws of the only run, which are not adjacent in memory. First it finds where all of them are, and then
// it reads them: reads that do not depend on each other wait for memory together, not one after the other.
func (m *merge) scattered(ascending bool, count int, dst []Ref) []Ref {
	r := &m.runs[0]
	at := len(dst)
	for range count {
		dst = append(dst, Ref{r.game, draw(r.next(ascending))})
	}
	for i := range dst[at:] {
		ref := &dst[at+i]
		*ref = m.ref(r.game, r.draws[ref.draw])
	}
	return dst
}

func (m *merge) merged(ascending bool, count int, dst []Ref) []Ref {
	for i := range m.runs {
		r := &m.runs[i]
		r.take(ascending)
		m.heap = append(m.heap, head{r.key(ascending), int32(i)})
	}
	for i := len(m.heap)/2 - 1; i >= 0; i-- {
		m.sink(i)
	}
	for range count {
		r := &m.runs[m.heap[0].run]
		dst = append(dst, m.ref(r.game, r.draw))
		if r.left > 0 {
			r.take(ascending)
			m.heap[0].key = r.key(ascending)
		} else {
			last := len(m.heap) - 1
			m.heap[0] = m.heap[last]
			m.heap = m.heap[:last]
		}
		m.sink(0)
	}
	return dst
}

// sink restores the heap below i.
func (m *merge) sink(i int) {
	h := m.heap
	for {
		least := 2*i + 1
		if least >= len(h) {
			return
		}
		if right := least + 1; right < len(h) && h[right].key < h[least].key {
			least = right
		}
		if h[i].key <= h[least].key {
			return
		}
		h[i], h[least] = h[least], h[i]
		i = least
	}
}

func (m *merge) ref(g *Game, d draw) Ref {
	if d.number() == m.number {
		d |= exactFlag
	}
	return Ref{g, d}
}
