package deflate

import (
	"encoding/binary"
	"hash/crc32"
	"math"
	"math/bits"
	"slices"
	"sync"
)

// Short texts are compressed with fixed codes, and repetitions are found with one small table: building codes for each
// text would take as long as the rest of an answer. Decision 0024.

const (
	// MaxShort is the length up to which a text is short; for longer ones, codes of their own save more. A position in
	// a short text must fit in 16 bits.
	MaxShort = 8 << 10

	// lookedUp is how many bytes are looked up at once. Matches may have 3 bytes, but searching for those of 4 and 5
	// takes a fifth longer and saves nothing: most are better covered by the end of a longer match.
	lookedUp = 6

	seenBits = 11
)

// literals writes text[at:end], which at least seven bytes must follow. The fixed code of an ASCII character is the
// character plus 0x30, in 8 bits, so seven are made at once.
func (w Writer) literals(out, text []byte, at, end int) Writer {
	for ; at < end; at += 7 {
		n := uint(min(end-at, 7)) * 8
		b := binary.LittleEndian.Uint64(text[at:]) & (1<<(n&63) - 1)
		if b&0x80808080808080 != 0 {
			w = w.Text(fixed, out, text[at:min(at+7, end)])
			continue
		}
		b += 0x30303030303030 & (1<<(n&63) - 1)
		b = b>>1&0x55555555555555 | b&0x55555555555555<<1 // codes are written from their highest bit down
		b = b>>2&0x33333333333333 | b&0x33333333333333<<2
		b = b>>4&0x0f0f0f0f0f0f0f | b&0x0f0f0f0f0f0f0f<<4
		w = w.Add(b, n).Flush(out)
	}
	return w
}

// places maps a hash of lookedUp bytes to where they last stood. Entries below base belong to earlier texts: clearing
// the table for each text would take a tenth of the time.
type places struct {
	seen      [1 << seenBits]uint16
	base, end int
}

var placesPool = sync.Pool{New: func() any { return &places{end: 1} }}

// forget prepares p for a text of the given length.
func (p *places) forget(length int) {
	p.base = p.end
	if p.base+length > math.MaxUint16 {
		clear(p.seen[:])
		p.base = 1
	}
	p.end = p.base + length
}

// fixedRoom is the most room that a text of the given length takes with fixed codes.
func fixedRoom(length int) int { return length + length/8 + 48 }

// AppendShort appends a text of at most MaxShort bytes in gzip format.
func AppendShort(dst, text []byte) []byte {
	from, room := len(dst), fixedRoom(len(text))
	dst = slices.Grow(dst, room)
	out := dst[from : from+room]
	w := Begin(out, fixed)
	p := placesPool.Get().(*places) //nolint:forcetypeassert // the pool makes nothing else
	defer placesPool.Put(p)
	p.forget(len(text))
	seen, base := &p.seen, p.base
	written := 0
	for at := 0; at+8 <= len(text); {
		first := binary.LittleEndian.Uint64(text[at:]) << (64 - 8*lookedUp)
		hash := first * 0x9E3779B185EBCA87 >> (64 - seenBits)
		before := int(seen[hash]) - base
		seen[hash] = uint16(at + base)
		if before < 0 || binary.LittleEndian.Uint64(text[before:])<<(64-8*lookedUp) != first {
			at++
			continue
		}
		length := lookedUp + common(text[before+lookedUp:], text[at+lookedUp:min(at+LongestMatch, len(text))])
		if at > written {
			w = w.literals(out, text, written, at)
		}
		w = w.With(fixed.Lengths[length]).With(fixed.Distance(at - before)).Flush(out)
		at += length
		written = at
	}
	return dst[:from+w.Text(fixed, out, text[written:]).End(fixed, out, crc32.ChecksumIEEE(text), len(text))]
}

// common is the length of the common prefix of a and b, where b is not longer than a.
func common(a, b []byte) int {
	n := 0
	for ; n+8 <= len(b); n += 8 {
		if differ := binary.LittleEndian.Uint64(a[n:]) ^ binary.LittleEndian.Uint64(b[n:]); differ != 0 {
			return n + bits.TrailingZeros64(differ)/8
		}
	}
	for n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}
