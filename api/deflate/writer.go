package deflate

import "encoding/binary"

// BeginRoom is the most bytes that Begin writes.
const BeginRoom = 320

// Writer collects bits, lowest first, and writes them to a buffer when flushed. It is a value: each method returns the
// writer to continue with, so that it stays in registers.
type Writer struct {
	bits uint64
	n    uint
	to   int // index of the next byte in the buffer
}

// Begin writes the beginning of a gzip text and of a block with codes c. out must have room for BeginRoom bytes, or for
// 20 with the fixed codes.
func Begin(out []byte, c *Codes) Writer {
	return Writer{c.rest, c.restLen, copy(out, c.begin)}
}

// Len is how many bytes of the buffer have been written.
func (w Writer) Len() int { return w.to }

// With adds a code. At most 56 bits may be added between two flushes.
func (w Writer) With(c Code) Writer { return w.Add(uint64(c.Bits), c.N) }

// Add adds the lowest n of bits; the higher ones must be zero.
func (w Writer) Add(bits uint64, n uint) Writer {
	return Writer{w.bits | bits<<(w.n&63), w.n + n, w.to}
}

// Flush writes all complete bytes to out, which must have room for eight.
func (w Writer) Flush(out []byte) Writer {
	binary.LittleEndian.PutUint64(out[w.to:], w.bits)
	return Writer{w.bits >> (w.n & 56), w.n & 7, w.to + int(w.n/8)}
}

// Text writes any text as literals, which takes at most two bytes for each of its bytes.
func (w Writer) Text(c *Codes, out, text []byte) Writer {
	for ; len(text) >= 3; text = text[3:] {
		w = w.With(c.Literals[text[0]]).With(c.Literals[text[1]]).With(c.Literals[text[2]]).Flush(out)
	}
	for _, char := range text {
		w = w.With(c.Literals[char]).Flush(out)
	}
	return w
}

// End writes the end of the block and of the gzip text, whose size and CRC-32 are given. out must have room for 24
// bytes. It returns how many bytes of out have been written in total.
func (w Writer) End(c *Codes, out []byte, sum uint32, size int) int {
	w = w.With(c.end).Flush(out)
	if w.n > 0 {
		w.to++
	}
	binary.LittleEndian.PutUint32(out[w.to:], sum)
	binary.LittleEndian.PutUint32(out[w.to+4:], uint32(size))
	return w.to + 8
}
