package api

import "sync"

// numberTexts is what the records of numbers of so many digits are put together from, in one layout: making it for each
// record is what a long list would spend most of its time on.
type numberTexts struct {
	once  sync.Once
	drawn []drawnText // by number; of zeroes alone, where digits are put into them
	boxes []boxText
	boxOf []uint16                          // by number; nil where drawn tells
	sizes []uint8                           // by number: of its texts and its box's
	put   struct{ first, step, second int } // where five digits go: in a list, and all together
}

// drawnText is the numbers and number_str of a number, in a cache line with its box.
type drawnText struct {
	text text61 // 53 bytes of five digits as JSON
	box  uint16
}

// boxText is what numbers of the same digits share.
type boxText struct {
	fields text48 // normalized and digits_sum: 38 bytes of five digits as JSON
	pairs  text64 // 49 bytes
}

const (
	maxKnownDigits = 5 // of more there would be too many boxes, and longer texts
	maxDrawnDigits = 4 // of more there would be too many numbers: 0.6 MB of four digits
)

var knownNumbers [forms][maxKnownDigits + 1]numberTexts

// numberTextsOf is the texts of the numbers of n digits, or nil where they would be too many.
func numberTextsOf(f form, n int) *numberTexts {
	if n > maxKnownDigits {
		return nil
	}
	if f == formNDJSON {
		f = formJSON // they differ between records only
	}
	t := &knownNumbers[f][n]
	t.once.Do(func() { t.make(&layouts[f], n) })
	return t
}

func (t *numberTexts) make(l *layout, n int) {
	count := powerOf10(n)
	if n <= maxDrawnDigits {
		t.drawn = make([]drawnText, count)
	} else {
		t.drawn, t.boxOf = make([]drawnText, 1), make([]uint16, count)
	}
	t.sizes = make([]uint8, count)
	var d digits
	known := map[[len(d.sorted)]byte]uint16{} // boxes by their digits
	for number := range count {
		d.set(number, n)
		box, ok := known[d.sorted]
		if !ok {
			box = uint16(len(t.boxes))
			known[d.sorted] = box
			t.boxes = append(t.boxes, boxText{newText48(l.appendBox(nil, &d)), newText64(l.appendPairs(nil, &d))})
		}
		if number < uint64(len(t.drawn)) {
			t.drawn[number] = drawnText{newText61(l.appendDrawn(nil, &d)), box}
		}
		if t.boxOf != nil {
			t.boxOf[number] = box
		}
		t.sizes[number] = t.drawn[min(number, uint64(len(t.drawn)-1))].text.len + t.boxes[box].fields.len + t.boxes[box].pairs.len
	}
	t.put.first, t.put.second = len(l.numbers)+len(l.quote), int(t.drawn[0].text.len)-n
	t.put.step = len(l.quote) + 1 + len(l.quote) + len(l.separator)
}

// box is which of the boxes number has.
func (t *numberTexts) box(number uint64) uint16 {
	if t.boxOf != nil {
		return t.boxOf[number]
	}
	return t.drawn[number].box
}

// putDrawn writes numbers and number_str of five digits at n, and gives where they end: zeroes, and the digits over them.
// A loop over the digits would take twice as long.
func (t *numberTexts) putDrawn(room *recordSpace, n int, number uint64) int {
	end := t.drawn[0].text.put(room, n)
	five := uint32(number)
	step, first, second := t.put.step, n+t.put.first, n+t.put.second
	d0, d1, d2, d3, d4 := byte('0'+five/10000), byte('0'+five/1000%10), byte('0'+five/100%10), byte('0'+five/10%10), byte('0'+five%10)
	room[first&recordMask], room[second&recordMask] = d0, d0
	room[(first+step)&recordMask], room[(second+1)&recordMask] = d1, d1
	room[(first+2*step)&recordMask], room[(second+2)&recordMask] = d2, d2
	room[(first+3*step)&recordMask], room[(second+3)&recordMask] = d3, d3
	room[(first+4*step)&recordMask], room[(second+4)&recordMask] = d4, d4
	return end
}

func powerOf10(n int) uint64 {
	power := uint64(1)
	for range n {
		power *= 10
	}
	return power
}
