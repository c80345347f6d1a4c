package api

import "sync"

// numberTexts is what the records of numbers of so many digits are put together from, in one layout: making it for each
// record is what a long list would spend most of its time on.
type numberTexts struct {
	once  sync.Once
	drawn []drawnText // by number of up to four digits
	five  *fiveTexts  // of five
	boxes []boxText
	boxOf []uint16 // by number of five digits
	sizes []uint8  // by number: of its texts and its box's
}

// drawnText is the numbers and number_str of a number, in a cache line with its box.
type drawnText struct {
	text text61
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
		t.five, t.boxOf = newFiveTexts(l), make([]uint16, count)
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
		size := t.boxes[box].fields.len + t.boxes[box].pairs.len
		if t.five != nil {
			t.boxOf[number], t.sizes[number] = box, size+t.five.len()
			continue
		}
		drawn := newText61(l.appendDrawn(nil, &d))
		t.drawn[number], t.sizes[number] = drawnText{drawn, box}, size+drawn.len
	}
}

// box is which of the boxes number has.
func (t *numberTexts) box(number uint64) uint16 {
	if t.five != nil {
		return t.boxOf[number]
	}
	return t.drawn[number].box
}

func powerOf10(n int) uint64 {
	power := uint64(1)
	for range n {
		power *= 10
	}
	return power
}
