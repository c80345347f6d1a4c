package api

import (
	"strconv"
	"sync"
)

// numberTexts is the JSON of every number of so many digits, which all draws of that number share: a record is then
// put together from a few texts, where making them is what a long list would spend most of its time on.
type numberTexts struct {
	text []byte
	ends []uint32 // of each number's fields and of its pairs, by turns; ends[0] = 0
}

// maxKnownDigits bounds the memory: 1.1 MB for four digits, ten times that for five.
const maxKnownDigits = 4

var knownNumbers [maxKnownDigits + 1]struct {
	once sync.Once
	numberTexts
}

// numberTextsOf is the texts of the numbers of n digits, or nil where they would be too many.
func numberTextsOf(n int) *numberTexts {
	if n > maxKnownDigits {
		return nil
	}
	known := &knownNumbers[n]
	known.once.Do(func() {
		known.ends = append(known.ends, 0)
		for number := range powerOf10(n) {
			var d digits
			d.set(number, n)
			known.text = d.appendNumber(known.text)
			known.ends = append(known.ends, uint32(len(known.text)))
			known.text = d.appendPairs(known.text, true, ',')
			known.ends = append(known.ends, uint32(len(known.text)))
		}
	})
	return &known.numberTexts
}

// of gives the fields from the end of tod to digits_sum, and the pairs.
func (t *numberTexts) of(number uint64) (fields, pairs []byte) {
	ends := t.ends[2*number : 2*number+3]
	return t.text[ends[0]:ends[1]], t.text[ends[1]:ends[2]]
}

// appendNumber appends what a record has between its tod and its game.
func (d *digits) appendNumber(b []byte) []byte {
	b = append(b, `","numbers":[`...)
	for i := range d.n {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, '"', d.drawn[i], '"')
	}
	b = append(b, `],"number_str":"`...)
	b = append(b, d.drawn[:d.n]...)
	b = append(b, `","normalized":"`...)
	b = append(b, d.sorted[:d.n]...)
	b = append(b, `","digits_sum":`...)
	return strconv.AppendInt(b, int64(d.sum), 10)
}

func powerOf10(n int) uint64 {
	power := uint64(1)
	for range n {
		power *= 10
	}
	return power
}
