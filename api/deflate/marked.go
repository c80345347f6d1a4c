package deflate

import (
	"hash/crc32"
	"slices"
)

// Mark is a place in a text that is likely to repeat what follows the previous mark of its kind.
type Mark struct {
	At   int32
	Kind uint8 // below 32
}

// AppendMarked appends a text in gzip format, with fixed codes. It does not search for repetitions: marks, in the order
// of the text, say where they are.
func AppendMarked(dst, text []byte, marks []Mark) []byte {
	from, room := len(dst), fixedRoom(len(text))
	dst = slices.Grow(dst, room)
	out := dst[from : from+room]
	w := Begin(out, fixed)
	var last [32]int // positions plus 1; 0 = none
	written := 0
	for _, m := range marks {
		at, before := int(m.At), last[m.Kind&31]-1
		last[m.Kind&31] = at + 1
		if before < 0 || before == at { // the first of its kind, or the same place again
			continue
		}
		if at < written { // the last match extends past this mark
			before += written - at
			at = written
		}
		if at+8 > len(text) || at-before > Window {
			continue
		}
		length := common(text[before:], text[at:min(at+LongestMatch, len(text))])
		if length < ShortestMatch {
			continue
		}
		w = w.literals(out, text, written, at).With(fixed.Lengths[length]).With(fixed.Distance(at - before)).Flush(out)
		written = at + length
	}
	return dst[:from+w.Text(fixed, out, text[written:]).End(fixed, out, crc32.ChecksumIEEE(text), len(text))]
}
