package nyopendata

import "io"

// positions is a reader that remembers where lines end, so that an offset from the JSON decoder can be converted to a
// line. It keeps only the line ends that were read but not yet passed by lineBefore.
type positions struct {
	r      io.Reader
	offset int64   // bytes passed on
	ends   []int64 // offsets of newlines not yet passed by lineBefore
	line   int     // newlines already passed by lineBefore
	open   bool    // the text passed on so far does not end in a newline
}

func (p *positions) Read(b []byte) (int, error) {
	n, err := p.r.Read(b)
	for i, c := range b[:n] {
		if c == '\n' {
			p.ends = append(p.ends, p.offset+int64(i))
		}
	}
	if n > 0 {
		p.open = b[n-1] != '\n'
	}
	p.offset += int64(n)
	return n, err
}

// lineBefore returns the 1-based line of the byte before offset. Offsets must not decrease from call to call.
func (p *positions) lineBefore(offset int64) int {
	passed := 0
	for passed < len(p.ends) && p.ends[passed] < offset-1 {
		passed++
	}
	p.ends = append(p.ends[:0], p.ends[passed:]...)
	p.line += passed
	return p.line + 1
}

// count returns how many lines have been passed on.
func (p *positions) count() int {
	n := p.line + len(p.ends)
	if p.open {
		n++
	}
	return n
}
