// Package deflate writes what the API compresses itself: the codes and bits of RFC 1951, in the frame of RFC 1952
// (gzip). It is for texts of which the caller knows more than a library can; whoever knows nothing is better served by
// one.
package deflate

import (
	"math/bits"
	"slices"
)

// What a match may be.
const (
	ShortestMatch = 3 // bytes
	LongestMatch  = 258
	Window        = 32 << 10 // how far back it may reach
)

// How many symbols there are, and which of them ends a block.
const (
	LiteralSymbols  = 286 // bytes, the end of a block, and lengths of matches
	DistanceSymbols = 30
	endOfBlock      = 256
	longestCode     = 15 // bits
)

// Code is the lowest N of Bits, in the order that they are written.
type Code struct {
	Bits uint32
	N    uint
}

// Codes is what the symbols of a block are written as.
type Codes struct {
	Literals  [256]Code              // by byte
	Lengths   [LongestMatch + 1]Code // of matches, with the bits that follow the symbol's code
	begin     []byte                 // the header of gzip, and what the block begins with, as far as its bytes are whole
	rest      uint64                 // the bits of it that are left,
	restLen   uint                   // and how many they are
	distances [32]Code               // by symbol, without the bits that follow
	end       Code
}

// fixed are the codes that a text need not tell: RFC 1951, 3.2.6.
var fixed = func() *Codes {
	literals := slices.Concat(slices.Repeat([]uint8{8}, 144), slices.Repeat([]uint8{9}, 112), slices.Repeat([]uint8{7}, 24), slices.Repeat([]uint8{8}, 8))
	return newCodes([]Code{{0b011, 3}}, literals, slices.Repeat([]uint8{5}, DistanceSymbols))
}()

// Distance is the code of a distance of at most Window, with the bits that follow: RFC 1951, 3.2.5.
func (c *Codes) Distance(distance int) Code {
	symbol, extra := distanceSymbol(distance)
	s := &c.distances[symbol&31]
	return Code{s.Bits | uint32(distance-1)&(1<<extra-1)<<(s.N&31), s.N + extra}
}

// DistanceSymbol is the symbol that a distance is written with.
func DistanceSymbol(distance int) int {
	symbol, _ := distanceSymbol(distance)
	return int(symbol)
}

func distanceSymbol(distance int) (symbol uint32, extra uint) {
	d := uint32(distance - 1)
	if d < 4 {
		return d, 0
	}
	extra = uint(bits.Len32(d)-2) & 31
	return uint32(2*extra) + d>>extra, extra
}

// extraBits is how many bits follow the symbol of a length: RFC 1951, 3.2.5.
func extraBits(symbol int) int { return max(0, (symbol-261)/4) }

// LengthSymbol is the symbol that a length of a match is written with.
func LengthSymbol(length int) int {
	beyond := ShortestMatch
	for symbol := endOfBlock + 1; symbol < LiteralSymbols-1; symbol++ {
		if beyond += 1 << extraBits(symbol); length < beyond && length < LongestMatch {
			return symbol
		}
	}
	return LiteralSymbols - 1
}

// gzipHeader is what a text compressed by gzip begins with (RFC 1952): nothing is told about it.
const gzipHeader = "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"

// newCodes makes codes of how long they are, for a block that begins with head.
func newCodes(head []Code, literals, distances []uint8) *Codes {
	c := &Codes{begin: make([]byte, BeginRoom)}
	w := Writer{to: copy(c.begin, gzipHeader)}
	for _, code := range head {
		w = w.With(code).Flush(c.begin)
	}
	c.begin, c.rest, c.restLen = c.begin[:w.to], w.bits, w.n
	symbols := canonical(literals)
	copy(c.Literals[:], symbols)
	c.end = symbols[endOfBlock]
	length := ShortestMatch
	for symbol := endOfBlock + 1; symbol < LiteralSymbols-1; symbol++ {
		s := symbols[symbol]
		for i := range 1 << extraBits(symbol) {
			c.Lengths[length] = Code{s.Bits | uint32(i)<<s.N, s.N + uint(extraBits(symbol))}
			length++
		}
	}
	c.Lengths[LongestMatch] = symbols[LiteralSymbols-1]
	copy(c.distances[:], canonical(distances))
	return c
}

// canonical is the codes that symbols have by the lengths of all their codes: RFC 1951, 3.2.2.
func canonical(lengths []uint8) []Code {
	var count, next [longestCode + 2]uint32
	for _, n := range lengths {
		count[n]++
	}
	count[0] = 0 // those that have none
	for n := range longestCode + 1 {
		next[n+1] = (next[n] + count[n]) << 1
	}
	all := make([]Code, len(lengths))
	for symbol, n := range lengths {
		if n > 0 {
			all[symbol] = Code{bits.Reverse32(next[n]) >> (32 - n), uint(n)}
			next[n]++
		}
	}
	return all
}
