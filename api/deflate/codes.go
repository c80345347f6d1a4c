// Package deflate writes the texts that the API compresses itself: the codes and bits of RFC 1951, in the format of RFC
// 1952 (gzip). It is for texts that the caller knows more about than a library can; for others, a library does better.
package deflate

import (
	"math/bits"
	"slices"
)

// Limits of a match.
const (
	ShortestMatch = 3 // bytes
	LongestMatch  = 258
	Window        = 32 << 10 // how far back a match may reach
)

// Numbers of symbols, the symbol that ends a block, and the longest code.
const (
	LiteralSymbols  = 286 // bytes, the end of a block, and lengths of matches
	DistanceSymbols = 30
	endOfBlock      = 256
	longestCode     = 15 // bits
)

// Code is the lowest N of Bits, in the order in which they are written.
type Code struct {
	Bits uint32
	N    uint
}

// Codes has the code of each symbol of a block.
type Codes struct {
	Literals  [256]Code              // by byte
	Lengths   [LongestMatch + 1]Code // of matches, with the extra bits after the symbol's code
	begin     []byte                 // the whole bytes of the gzip header and of the block's beginning
	rest      uint64                 // the remaining bits of that beginning,
	restLen   uint                   // and how many they are
	distances [32]Code               // by symbol, without the extra bits
	end       Code
}

// fixed has the codes that a block need not define: RFC 1951, 3.2.6.
var fixed = func() *Codes {
	literals := slices.Concat(slices.Repeat([]uint8{8}, 144), slices.Repeat([]uint8{9}, 112), slices.Repeat([]uint8{7}, 24), slices.Repeat([]uint8{8}, 8))
	return newCodes([]Code{{0b011, 3}}, literals, slices.Repeat([]uint8{5}, DistanceSymbols))
}()

// Distance returns the code of a distance of at most Window, with its extra bits: RFC 1951, 3.2.5.
func (c *Codes) Distance(distance int) Code {
	d := uint32(distance - 1)
	symbol, extra := distanceSymbol(d)
	s := &c.distances[symbol&31]
	return Code{s.Bits | d&(1<<extra-1)<<(s.N&31), s.N + extra}
}

// DistanceSymbol returns the symbol for a distance.
func DistanceSymbol(distance int) int {
	symbol, _ := distanceSymbol(uint32(distance - 1))
	return int(symbol)
}

// distanceSymbol returns the symbol for a distance that is one less, and the number of bits that follow it.
func distanceSymbol(less uint32) (symbol uint32, extra uint) {
	extra = uint(bits.Len32(less|2)-2) & 31
	return uint32(2*extra) + less>>extra, extra
}

// extraBits is the number of bits that follow the symbol of a length: RFC 1951, 3.2.5.
func extraBits(symbol int) int { return max(0, (symbol-261)/4) }

// LengthSymbol returns the symbol for the length of a match.
func LengthSymbol(length int) int {
	beyond := ShortestMatch
	for symbol := endOfBlock + 1; symbol < LiteralSymbols-1; symbol++ {
		if beyond += 1 << extraBits(symbol); length < beyond && length < LongestMatch {
			return symbol
		}
	}
	return LiteralSymbols - 1
}

// gzipHeader begins a gzip text (RFC 1952), with no name, time or other metadata.
const gzipHeader = "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"

// newCodes makes codes from their lengths, for a block that begins with head.
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

// canonical assigns codes to symbols by the lengths of the codes: RFC 1951, 3.2.2.
func canonical(lengths []uint8) []Code {
	var count, next [longestCode + 2]uint32
	for _, n := range lengths {
		count[n]++
	}
	count[0] = 0 // symbols without a code
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
