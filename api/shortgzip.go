package api

import (
	"encoding/binary"
	"hash/crc32"
	"math/bits"
	"slices"
)

// Short answers are compressed by ourselves: the libraries build Huffman codes for each text, which for ten draws takes
// as long as all else that the answer costs. This uses the fixed codes of RFC 1951, and finds what stood before by one
// small table. Decision 0024.

const (
	// shortText is the length up to which a text is compressed so: for longer ones codes of their own save more. A
	// position in it, and one, must fit 16 bits.
	shortText = 8 << 10

	shortestMatch = 4 // of the 3 that there may be: as many as are looked up at once
	longestMatch  = 258
)

// code is bits in the order that they are written, the lowest first.
type code struct {
	bits uint32
	n    uint8
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
	return code{bits.Reverse32(uint32(base+symbol-first)) >> (32 - n), uint8(n)}
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
			codes[length] = code{c.bits | uint32(i)<<c.n, c.n + uint8(extra)}
			length++
		}
	}
	codes[longestMatch] = fixedCode(285)
	return codes
}()

// distanceCode is the code of a distance, with the bits that follow: RFC 1951, 3.2.5.
func distanceCode(distance int) code {
	d := uint32(distance - 1)
	if d < 4 {
		return code{bits.Reverse32(d) >> 27, 5}
	}
	extra := uint32(bits.Len32(d)) - 2
	symbol := 2*extra + d>>extra
	return code{bits.Reverse32(symbol)>>27 | d&(1<<extra-1)<<5, uint8(5 + extra)}
}

// bitWriter collects bits, the lowest first.
type bitWriter struct {
	out  []byte
	bits uint64
	n    uint8
}

// add writes a code of at most 32 bits.
func (w *bitWriter) add(c code) {
	w.bits |= uint64(c.bits) << w.n
	w.n += c.n
	if w.n >= 32 {
		w.out = binary.LittleEndian.AppendUint32(w.out, uint32(w.bits))
		w.bits >>= 32
		w.n -= 32
	}
}

// literals writes a text as it is.
func (w *bitWriter) literals(text []byte) {
	for _, c := range text {
		w.add(literalCodes[c])
	}
}

// close fills the last byte.
func (w *bitWriter) close() []byte {
	for ; w.n > 0; w.n -= min(8, w.n) {
		w.out = append(w.out, byte(w.bits))
		w.bits >>= 8
	}
	return w.out
}

// appendShortGzip appends a text of at most shortText bytes, compressed by gzip (RFC 1952).
func appendShortGzip(dst, text []byte) []byte {
	w := bitWriter{out: slices.Grow(dst, len(text)+len(text)/8+32)}
	w.out = append(w.out, 0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255)
	w.add(code{0b011, 3})    // the last block, with fixed codes
	var seen [1 << 11]uint16 // by hash: one more than the position where four bytes stood last
	written := 0
	for at := 0; at+8 <= len(text); {
		four := binary.LittleEndian.Uint32(text[at:])
		hash := four * 2654435761 >> 21
		before := int(seen[hash]) - 1
		seen[hash] = uint16(at + 1)
		if before < 0 || binary.LittleEndian.Uint32(text[before:]) != four {
			at++
			continue
		}
		length := shortestMatch + common(text[before+shortestMatch:], text[at+shortestMatch:min(at+longestMatch, len(text))])
		w.literals(text[written:at])
		w.add(lengthCodes[length])
		w.add(distanceCode(at - before))
		at += length
		written = at
	}
	w.literals(text[written:])
	w.add(endCode)
	dst = binary.LittleEndian.AppendUint32(w.close(), crc32.ChecksumIEEE(text))
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
