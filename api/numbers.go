package api

import (
	"sync"

	"lottery/models"
)

// numberTexts has the texts for records of numbers of a given width, in one layout: a long list would spend most of its
// time on making them for each record.
type numberTexts struct {
	once  sync.Once
	drawn []drawnText // by number, up to four digits
	five  *fiveTexts  // for five digits
	boxes []boxText
	boxOf []uint16 // by number, for five digits
	sizes []uint8  // by number: bytes of its texts and its box's
}

// drawnText has numbers and number_str of a number, in one cache line with the index of its box.
type drawnText struct {
	text text61
	box  uint16
}

// boxText has what all orders of the same digits share.
type boxText struct {
	fields text48 // normalized and digits_sum: 38 bytes as JSON for five digits
	pairs  text64 // 49 bytes
}

const (
	maxKnownDigits = 5 // more digits have too many boxes, and longer texts
	maxDrawnDigits = 4 // more digits have too many numbers: four take 0.6 MB
)

var knownNumbers [forms][maxKnownDigits + 1]numberTexts

// numberTextsOf returns the texts of numbers of n digits, or nil if they would be too many.
func numberTextsOf(f form, n int) *numberTexts {
	if n > maxKnownDigits {
		return nil
	}
	f = f.ofFields()
	t := &knownNumbers[f][n]
	t.once.Do(func() { t.make(&layouts[f], n) })
	return t
}

func (t *numberTexts) make(l *layout, n int) {
	count := models.PowerOf10(n)
	if n <= maxDrawnDigits {
		t.drawn = make([]drawnText, count)
	} else {
		t.five, t.boxOf = newFiveTexts(l), make([]uint16, count)
	}
	t.sizes = make([]uint8, count)
	var d digits
	known := map[[len(d.sorted)]byte]uint16{} // boxes by sorted digits
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

// box returns the index of number's box.
func (t *numberTexts) box(number uint64) uint16 {
	if t.five != nil {
		return t.boxOf[number]
	}
	return t.drawn[number].box
}
