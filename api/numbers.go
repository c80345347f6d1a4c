package api

import (
	"strconv"
	"sync"
)

// numberText is the JSON of a number, which all draws of that number share: a record is then put together from a few
// texts, where making them is what a long list would spend most of its time on.
type numberText struct {
	fields              [96]byte // from the end of tod to digits_sum; 85 bytes of four digits
	pairs               [32]byte // 29 bytes at most
	fieldsLen, pairsLen uint8
}

// maxKnownDigits bounds the memory, 1.3 MB for four digits, and the length of the texts.
const maxKnownDigits = 4

var knownNumbers [maxKnownDigits + 1]struct {
	once  sync.Once
	texts []numberText
}

// numberTextsOf is the texts of the numbers of n digits, or nil where they would be too many.
func numberTextsOf(n int) []numberText {
	if n > maxKnownDigits {
		return nil
	}
	known := &knownNumbers[n]
	known.once.Do(func() {
		known.texts = make([]numberText, powerOf10(n))
		var d digits
		for number := range known.texts {
			t := &known.texts[number]
			d.set(uint64(number), n)
			t.fieldsLen = uint8(len(d.appendNumber(t.fields[:0])))
			t.pairsLen = uint8(len(d.appendPairs(t.pairs[:0], true, ',')))
		}
	})
	return known.texts
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
