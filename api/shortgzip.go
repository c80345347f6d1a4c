package api

import (
	"encoding/binary"
	"hash/crc32"
	"math"
	"math/bits"
	"slices"
	"sync"
)

// Short answers are compressed by ourselves: the libraries build Huffman codes for each text, which for ten draws takes
// as long as all else that the answer costs. This uses the fixed codes of RFC 1951, and finds what stood before by one
// small table. Decision 0024.

const (
	// shortText is the length up to which a text is compressed so: for longer ones codes of their own save more. A
	// position in it must fit 16 bits.
	shortText = 8 << 10

	// shortestMatch is how many bytes are looked up at once. Matches may be of 3, but to look for those of 4 and 5 takes a
	// fifth longer, and saves nothing: most of them are better found as the end of a longer one.
	shortestMatch = 6
	longestMatch  = 258

	seenBits = 11
)

// code is bits in the order that they are written, the lowest first.
type code struct {
	bits uint32
	n    uint
}

// fixedCode is the code of a literal, of the end of the text (256), or of a length (257 … 285): RFC 1951, 3.2.6.
func fixedCode(symbol int) code {
	first, base, n := 0, 0x30, 8
	switch {
	case symbol >= 280:
		first, base = 280, 0xC0
	case symbol >= 256:
		first, base, n = 256, 0, 7
	case symbol >= 144:
		first, base, n = 144, 0x190, 9
	}
	return code{bits.Reverse32(uint32(base+symbol-first)) >> (32 - n), uint(n)}
}

var endCode = fixedCode(256)

var literalCodes = func() (codes [256]code) {
	for literal := range codes {
		codes[literal] = fixedCode(literal)
	}
	return codes
}()

// lengthCodes is the codes of matches by their length, with the bits that follow: RFC 1951, 3.2.5.
var lengthCodes = func() (codes [longestMatch + 1]code) {
	length := 3
	for symbol := 257; symbol < 285; symbol++ {
		c, extra := fixedCode(symbol), max(0, (symbol-261)/4)
		for i := range 1 << extra {
			codes[length] = code{c.bits | uint32(i)<<c.n, c.n + uint(extra)}
			length++
		}
	}
	codes[longestMatch] = fixedCode(285)
	return codes
}()

// distanceSymbols is the codes of distances without the bits that follow: five bits each, the first of them lowest.
var distanceSymbols = func() (codes [32]uint8) {
	for symbol := range codes {
		codes[symbol] = bits.Reverse8(uint8(symbol)) >> 3
	}
	return codes
}()

// distanceCode is the code of a distance, with the bits that follow: RFC 1951, 3.2.5.
func distanceCode(distance int) code {
	d := uint32(distance - 1)
	if d < 4 {
		return code{uint32(distanceSymbols[d]), 5}
	}
	extra := uint32(bits.Len32(d)) - 2
	symbol := 2*extra + d>>extra
	return code{uint32(distanceSymbols[symbol&31]) | d&(1<<extra-1)<<5, uint(5 + extra)}
}

// bitWriter collects bits, the lowest first. out must have room for all of them, and for eight bytes more.
type bitWriter struct {
	out  []byte
	at   int    // where the next byte of out goes
	bits uint64 // that are no whole byte yet
	n    uint   // how many of them
}

// add writes the lowest n of bits, at most 56, of which no higher one may be set.
func (w *bitWriter) add(bits uint64, n uint) {
	w.bits |= bits << (w.n & 7)
	w.n += n
	binary.LittleEndian.PutUint64(w.out[w.at:], w.bits)
	w.at += int(w.n / 8)
	w.bits >>= w.n & 56
	w.n &= 7
}

// literals writes text[at:end], which at least seven bytes must follow. The code of an ASCII character has as many bits as
// the character, and begins at 0x30: seven of them are made at once.
func (w *bitWriter) literals(text []byte, at, end int) {
	for ; at < end; at += 7 {
		n := uint(min(end-at, 7)) * 8
		b := binary.LittleEndian.Uint64(text[at:]) & (1<<(n&63) - 1)
		if b&0x80808080808080 != 0 {
			w.each(text[at:min(at+7, end)])
			continue
		}
		b += 0x30303030303030 & (1<<(n&63) - 1)
		b = b>>1&0x55555555555555 | b&0x55555555555555<<1 // codes are written from their highest bit on
		b = b>>2&0x33333333333333 | b&0x33333333333333<<2
		b = b>>4&0x0f0f0f0f0f0f0f | b&0x0f0f0f0f0f0f0f<<4
		w.add(b, n)
	}
}

// each writes a text as it is, whatever it holds.
func (w *bitWriter) each(text []byte) {
	for _, c := range text {
		l := literalCodes[c]
		w.add(uint64(l.bits), l.n)
	}
}

// places is where so many bytes as a match have stood last, by hash. What is below base is of other texts: to clear the
// table for each would take a tenth of all.
type places struct {
	seen      [1 << seenBits]uint16
	base, end int
}

var placesPool = sync.Pool{New: func() any { return &places{end: 1} }}

// forget makes p ready for a text of so many bytes.
func (p *places) forget(length int) {
	p.base = p.end
	if p.base+length > math.MaxUint16 {
		clear(p.seen[:])
		p.base = 1
	}
	p.end = p.base + length
}

// shortRoom is how much room the coded form of a short text may take while it is made.
func shortRoom(length int) int { return length + length/8 + 48 }

// appendShortGzip appends a text of at most shortText bytes, compressed by gzip (RFC 1952).
func appendShortGzip(dst, text []byte) []byte {
	from, room := len(dst), shortRoom(len(text))
	dst = slices.Grow(dst, room)
	w := bitWriter{out: dst[from : from+room]}
	w.at = copy(w.out, "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff")
	w.add(0b011, 3)                 // the last block, with fixed codes
	p := placesPool.Get().(*places) //nolint:forcetypeassert // the pool makes nothing else
	defer placesPool.Put(p)
	p.forget(len(text))
	seen, base := &p.seen, p.base
	written := 0
	for at := 0; at+8 <= len(text); {
		first := binary.LittleEndian.Uint64(text[at:]) << (64 - 8*shortestMatch)
		hash := first * 0x9E3779B185EBCA87 >> (64 - seenBits)
		before := int(seen[hash]) - base
		seen[hash] = uint16(at + base)
		if before < 0 || binary.LittleEndian.Uint64(text[before:])<<(64-8*shortestMatch) != first {
			at++
			continue
		}
		length := shortestMatch + common(text[before+shortestMatch:], text[at+shortestMatch:min(at+longestMatch, len(text))])
		if at > written {
			w.literals(text, written, at)
		}
		l, d := lengthCodes[length], distanceCode(at-before)
		w.add(uint64(l.bits)|uint64(d.bits)<<(l.n&31), l.n+d.n)
		at += length
		written = at
	}
	w.each(text[written:])
	w.add(uint64(endCode.bits), endCode.n)
	if w.n > 0 {
		w.at++
	}
	dst = binary.LittleEndian.AppendUint32(dst[:from+w.at], crc32.ChecksumIEEE(text))
	return binary.LittleEndian.AppendUint32(dst, uint32(len(text)))
}

// common is how many bytes a and b, the shorter, begin with alike.
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
