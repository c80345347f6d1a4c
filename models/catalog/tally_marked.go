package catalog

// addMarked adds a selection by what its game knows of the draws between two marks, mended by those between these and
// the selection's ends. It is false, and adds nothing, where no marks are near, or where they do not tell which numbers
// were drawn most.
func (t *tally) addMarked(s *selection) bool {
	known := &s.game.leaders[s.tod]
	if known.step == 0 {
		return false
	}
	first, last := known.nearest(s.low), known.nearest(s.high)
	if first >= last {
		return false
	}
	list, floor := known.between(first, last)
	if floor == 0 {
		return false
	}
	m := newMender(t, s)
	m.mend(s.low, known.at(first))
	m.mend(known.at(last), s.high)
	for _, leading := range list {
		number := leading.number()
		t.numbers.offer(number, floor+leading.above()+int(t.mends[number]))
		t.mends[number] = 0
	}
	m.offer(floor - 1)
	if t.numbers.least() < floor && floor > 1 { // a number that is no leader may have been drawn as often
		clear(t.boxes)
		t.numbers = top{}
		return false
	}
	boxes, before, upTo := t.boxes, known.sumsBefore(first), known.sumsBefore(last)
	for box, count := range upTo[:len(boxes)] {
		boxes[box] += count - before[box]
	}
	before, upTo = before[len(boxes):], upTo[len(boxes):]
	for i, count := range upTo {
		t.places[i/10][i%10] += int(count - before[i])
	}
	m.addUp()
	return true
}

// mender adds the draws that a selection has beside those between two marks, and takes away those that it has not.
type mender struct {
	tally *tally
	of    *selection
	table *boxesOf
	front []int32       // by the number without its last two digits
	back  *[backs]int32 // by these
}

const (
	backPlaces = 2   // how many digits mender.back is about
	backs      = 100 // how many numbers they make
)

func newMender(t *tally, s *selection) mender {
	if width := int(powerOf10(t.digits)); len(t.mends) < width {
		t.mends = make([]int32, width)
	}
	front := t.front[:powerOf10(t.digits-backPlaces)]
	clear(front)
	clear(t.back[:])
	t.mended = t.mended[:0]
	return mender{tally: t, of: s, table: boxTable(t.digits), front: front, back: &t.back}
}

// addUp adds what has been mended by place, and what the boxes tell.
func (m *mender) addUp() {
	t := m.tally
	t.addColumns(m.front, 0)
	t.addColumns(m.back[:], t.digits-backPlaces)
	t.addBoxes(m.table.sums)
}

// mend adds the draws from low to high, or takes away those from high to low.
func (m *mender) mend(low, high int) {
	by := int32(1)
	if low > high {
		low, high, by = high, low, -1
	}
	t, before := m.tally, len(m.tally.mended)
	t.mended = m.of.appendNumbers(t.mended, low, high)
	mends, boxes, boxOf, front, back := t.mends, t.boxes, m.table.boxes, m.front, m.back
	for _, number := range t.mended[before:] {
		mends[number] += by
		boxes[boxOf[number]] += uint32(by)
		front[number/backs] += by
		back[number%backs] += by
	}
}

// offer offers those numbers of mended draws that may be among the most frequent if they were drawn most times before
// they were mended, and ends the mending of all.
func (m *mender) offer(most int) {
	t, mends := m.tally, m.tally.mends
	need := max(int32(t.numbers.least()-most), 1) // with fewer it is not among them
	for _, number := range t.mended {
		more := mends[number]
		mends[number] = 0
		if more >= need && newTopEntry(uint64(number), most+int(more)) > t.numbers[topCount-1] {
			t.numbers.offer(uint64(number), m.of.drawn(uint64(number)))
		}
	}
}
