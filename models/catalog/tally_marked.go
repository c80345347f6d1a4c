package catalog

import "lottery/models"

// addMarked adds a selection from what its game knows of the draws between two marks, corrected by the draws between
// the marks and the selection's ends. It reports false, with nothing added, if no marks are near, or if they do not
// determine the most frequent numbers.
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
	if t.numbers.least() < floor && floor > 1 { // a number that is no leader may have as many
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

// mender adds the draws of a selection that are outside two marks, and subtracts draws between
// them that are not selected.
type mender struct {
	tally *tally
	of    *selection
	table *boxesOf
	front []int32       // by the number without its last two digits
	back  *[backs]int32 // by the last two digits
}

const (
	backPlaces = 2   // how many digits back covers
	backs      = 100 // how many numbers these make
)

func newMender(t *tally, s *selection) mender {
	if width := int(models.PowerOf10(t.digits)); len(t.mends) < width {
		t.mends = make([]int32, width)
	}
	front := t.front[:models.PowerOf10(t.digits-backPlaces)]
	clear(front)
	clear(t.back[:])
	t.mended = t.mended[:0]
	return mender{tally: t, of: s, table: boxTable(t.digits), front: front, back: &t.back}
}

// addUp adds the corrections by place, and what follows from the boxes.
func (m *mender) addUp() {
	t := m.tally
	t.addColumns(m.front, 0)
	t.addColumns(m.back[:], t.digits-backPlaces)
	t.addBoxes(m.table.sums)
}

// mend adds the draws low…high-1, or subtracts the draws high…low-1.
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

// offer offers the corrected numbers that may be among the most frequent, given that none was drawn more than most
// times between the marks. It clears the corrections of all numbers.
func (m *mender) offer(most int) {
	t, mends := m.tally, m.tally.mends
	need := max(int32(t.numbers.least()-most), 1) // with fewer it cannot be among them
	for _, number := range t.mended {
		more := mends[number]
		mends[number] = 0
		if more >= need && newTopEntry(uint64(number), most+int(more)) > t.numbers[topCount-1] {
			t.numbers.offer(uint64(number), m.of.drawn(uint64(number)))
		}
	}
}
