package catalog

import (
	"math/bits"
	"slices"
	"sync"

	"lottery/models"
)

// tally is the counts of a selection of draws.
type tally struct {
	digits   int
	sums     [9*models.MaxDigits + 1]int
	places   [models.MaxDigits][10]int // by place from the left and digit
	boxes    []uint32                  // by box
	numbers  top
	topBoxes top
	scratch  [2][]uint64
	counts   []uint32
	mends    []int32     // corrections by number; all 0 between two tallies
	mended   []uint32    // the numbers of the draws that corrections came from
	front    [1000]int32 // for mender
	back     [backs]int32
}

var tallies sync.Pool // of *tally

// newTally counts a selection. The caller must call release.
func newTally(s *selection) *tally {
	t, ok := tallies.Get().(*tally)
	if !ok { // the pool is empty
		t = new(tally)
	}
	t.digits, t.boxes = s.game.Digits, zeroed(t.boxes, boxCount(s.game.Digits))
	t.numbers, t.topBoxes = top{}, top{}
	clear(t.sums[:])
	clear(t.places[:])
	switch width := int(models.PowerOf10(t.digits)); {
	case s.total == 0, t.addMarked(s):
	case t.digits > tableDigits:
		t.addSorted(s)
	case t.digits > backPlaces && s.total < width/fewPart:
		t.addFew(s)
	default:
		t.counts = zeroed(t.counts, width)
		s.count(t.counts)
		t.addTable(t.counts)
	}
	return t
}

func (t *tally) release() { tallies.Put(t) }

// addTable adds counts by number. It handles the last three digits of each number one by one, and the digits before
// them once per thousand numbers.
func (t *tally) addTable(counts []uint32) {
	table := boxTable(t.digits)
	low := min(t.digits, 3)
	width := int(models.PowerOf10(low))
	columns, byBox, beaten := make([]int32, 1000)[:width], t.boxes, uint32(0)
	for first := 0; first < len(counts); first += width {
		row, boxes := counts[first:first+width], table.boxes[first:first+width]
		total := 0
		for i, n := range row {
			total += int(n)
			columns[i] += int32(n)
			byBox[boxes[i]] += n
			if n > beaten { // later numbers are greater, so a tie is not enough
				t.numbers.offer(uint64(first+i), int(n))
				beaten = uint32(t.numbers.least())
			}
		}
		t.addPlaces(uint64(first/width), 0, t.digits-low, total)
	}
	t.addColumns(columns, t.digits-low)
	t.addBoxes(table.sums)
}

// addBoxes derives the sums and the most frequent boxes from t.boxes; sums is by box.
func (t *tally) addBoxes(sums []uint8) {
	beaten := uint32(0)
	for box, count := range t.boxes {
		t.sums[sums[box]] += int(count)
		if count > beaten { // later boxes are greater, so a tie is not enough
			t.topBoxes.offer(uint64(box), int(count))
			beaten = uint32(t.topBoxes.least())
		}
	}
}

// addColumns adds counts by the digits from place on, and returns their total.
func (t *tally) addColumns(counts []int32, place int) (total int) {
	digits, part := &t.places[place], len(counts)/10
	for digit := range digits {
		count := int(counts[digit*part])
		if part > 1 {
			count = t.addColumns(counts[digit*part:(digit+1)*part], place+1)
		}
		digits[digit] += count
		total += count
	}
	return total
}

// addPlaces counts the digits of number at places from…to-1, count times each.
func (t *tally) addPlaces(number uint64, from, to, count int) {
	for place := to - 1; place >= from; place-- {
		t.places[place][number%10] += count
		number /= 10
	}
}

// fewPart is the fraction (1/fewPart) of all numbers below which it is faster to count draws than to scan all numbers.
const fewPart = 4

// addFew adds a selection that is small compared with the count of possible numbers.
func (t *tally) addFew(s *selection) {
	m := newMender(t, s)
	m.mend(s.low, s.high)
	for _, number := range t.mended {
		if count := t.mends[number]; count > 0 {
			t.mends[number] = 0
			t.numbers.offer(uint64(number), int(count))
		}
	}
	m.addUp()
}

// addSorted adds a selection of numbers with too many digits for a table.
func (t *tally) addSorted(s *selection) {
	for i := range t.scratch {
		t.scratch[i] = slices.Grow(t.scratch[i][:0], s.total)[:s.total]
	}
	s.collect(t.scratch[0])
	sorted := radixSort(t.scratch[0], t.scratch[1], 0, bits.Len64(models.PowerOf10(t.digits)-1))
	box := boxKey(t.digits)
	for i := 0; i < len(sorted); {
		number, start := sorted[i], i
		for i < len(sorted) && sorted[i] == number {
			i++
		}
		count := i - start
		t.sums[digitSum(number)] += count
		t.boxes[box(number)] += uint32(count)
		t.addPlaces(number, 0, t.digits, count)
		t.numbers.offer(number, count)
	}
	for box, count := range t.boxes {
		t.topBoxes.offer(uint64(box), int(count))
	}
}

// digit is how often a digit was drawn in all places together.
func (t *tally) digit(d int) int {
	count := 0
	for _, place := range t.places[:t.digits] {
		count += place[d]
	}
	return count
}

// topSums returns the most frequent sums.
func (t *tally) topSums() top {
	var sums top
	for sum, count := range t.sums {
		sums.offer(uint64(sum), count)
	}
	return sums
}

// top is the ten keys with the highest counts, highest first, ties by the smaller key. Unused entries are 0.
type top [topCount]topEntry

// topEntry is a count and, in the bits below, how far its key is from the highest possible: the better of
// two entries is the greater.
type topEntry uint64

func newTopEntry(key uint64, count int) topEntry {
	return topEntry(uint64(count)<<numberBits | (numberMask - key))
}

func (e topEntry) key() uint64 { return numberMask - uint64(e)&numberMask }
func (e topEntry) count() int  { return int(e >> numberBits) }

// offer offers a key with its count. Keys may come in any order, but each only once. A count of 0 is ignored.
func (t *top) offer(key uint64, count int) {
	if e := newTopEntry(key, count); count > 0 && e > t[topCount-1] {
		t.insert(e)
	}
}

// insert puts an entry in its place if it is better than the last one. It goes through all ten, which
// avoids unpredictable branches.
func (t *top) insert(e topEntry) {
	for i, other := range t {
		t[i], e = max(other, e), min(other, e)
	}
}

// least is the count of the tenth entry; 0 if there are fewer.
func (t *top) least() int { return t[topCount-1].count() }

func (t *top) list() []topEntry {
	used := 0
	for used < topCount && t[used] != 0 {
		used++
	}
	return t[:used]
}

// zeroed returns n zeros, in list if it has room.
func zeroed(list []uint32, n int) []uint32 {
	list = slices.Grow(list[:0], n)[:n]
	clear(list)
	return list
}
