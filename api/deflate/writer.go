package deflate

import "encoding/binary"

// BeginRoom is how many bytes Begin may write.
const BeginRoom = 320

// Writer collects bits, the lowest first, and writes them to a buffer when they are flushed. It is a value: each call
// gives the writer to go on with, so that it stays in the processor's registers.
type Writer struct {
	bits uint64
	n    uint
	to   int // where in the buffer the next byte goes
}

// Begin writes what gzip and a block of such codes begin with; out must have room for BeginRoom bytes, or with the
// fixed codes for 20.
func Begin(out []byte, c *Codes) Writer {
	return Writer{c.rest, c.restLen, copy(out, c.begin)}
}

// Len is how many bytes of the buffer are written.
func (w Writer) Len() int { return w.to }

// With adds a code. Between two flushes there may be codes of 56 bits.
func (w Writer) With(c Code) Writer { return w.Add(uint64(c.Bits), c.N) }

// Add adds the lowest n of bits, of which no higher one may be set.
func (w Writer) Add(bits uint64, n uint) Writer {
	return Writer{w.bits | bits<<(w.n&63), w.n + n, w.to}
}

// Flush writes the bytes that are whole to out, which must have room for eight.
func (w Writer) Flush(out []byte) Writer {
	binary.LittleEndian.PutUint64(out[w.to:], w.bits)
	return Writer{w.bits >> (w.n & 56), w.n & 7, w.to + int(w.n/8)}
}

// Text writes a text as it is, whatever it holds: in two bytes for each of its own at most.
func (w Writer) Text(c *Codes, out, text []byte) Writer {
	for ; len(text) >= 3; text = text[3:] {
		w = w.With(c.Literals[text[0]]).With(c.Literals[text[1]]).With(c.Literals[text[2]]).Flush(out)
	}
	for _, char := range text {
		w = w.With(c.Literals[char]).Flush(out)
	}
	return w
}

// End writes the end of the block and of gzip, for a text of so many bytes with that CRC-32; out must have room for 24
// bytes. It gives how many bytes of out are written in all.
func (w Writer) End(c *Codes, out []byte, sum uint32, size int) int {
	w = w.With(c.end).Flush(out)
	if w.n > 0 {
		w.to++
	}
	binary.LittleEndian.PutUint32(out[w.to:], sum)
	binary.LittleEndian.PutUint32(out[w.to+4:], uint32(size))
	return w.to + 8
}
