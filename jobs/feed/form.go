package feed

import (
	"bufio"
	"bytes"
	"errors"
	"io"

	"lottery/models"
)

// Form is one feed's published form.
type Form struct {
	Feed     string // models.Feed…
	Expected string // what a good file looks like; ends the sentence "expected …"
	// Whole tells that a file has every draw of a game at a time of day from the first date that it has to the last: one
	// that is missing between was not forgotten.
	Whole bool

	// Parse hands the candidates of r to yield, in the order of their lines, and returns how many physical
	// lines it read (a last one without a newline counts). It stops at the first error of r or of yield.
	// What makes the file as a whole unusable is a models.Error. A candidate is valid until yield returns.
	// f is the form itself, for such errors and for OnIgnored.
	Parse func(f Form, r *bufio.Reader, yield func(*Candidate) error) (lines int, err error)

	// OnIgnored, if not nil, gets each column, or key of a record, that the form does not know and that has a value
	// somewhere, once: those values are not read. A column without a name is told by its 1-based number.
	OnIgnored func(column string)
}

// Read looks at the first bytes of r, which tell an empty file or a web page from data, and parses the rest.
func (f Form) Read(r io.Reader, yield func(*Candidate) error) (lines int, err error) {
	buffered := bufio.NewReaderSize(r, MaxLine+2)
	if err := f.sniff(buffered); err != nil {
		return 0, err
	}
	f.OnIgnored = onceEach(f.OnIgnored)
	return f.Parse(f, buffered, yield)
}

// Sniff is an error where the first bytes of r tell that it cannot be data of the form.
func (f Form) Sniff(r io.Reader) error { return f.sniff(bufio.NewReaderSize(r, Sniffed)) }

// ReadAll is Read into a slice, for small files and tests.
func (f Form) ReadAll(r io.Reader) (candidates []Candidate, lines int, err error) {
	lines, err = f.Read(r, func(c *Candidate) error {
		candidates = append(candidates, c.Clone())
		return nil
	})
	return candidates, lines, err
}

// unusable is the error for a file that is something else: found says what.
func (f Form) unusable(found string) error {
	return models.Errorf(models.CodeInvalid, "%s: expected %s", found, f.Expected)
}

// Sniffed is how many bytes at the beginning of a file tell what it is.
const Sniffed = 1024

// sniff refuses what cannot be data of any form, and drops a byte order mark.
func (f Form) sniff(r *bufio.Reader) error {
	head, err := r.Peek(Sniffed)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	for _, packed := range []struct{ prefix, what string }{
		{"\xff\xfe", "it is UTF-16 text, save it as UTF-8"},
		{"\xfe\xff", "it is UTF-16 text, save it as UTF-8"},
		{"\x1f\x8b", "it is compressed (gzip), unpack it first"},
		{"PK\x03\x04", "it is a zip archive or a spreadsheet, unpack it or save it as text first"},
	} {
		if bytes.HasPrefix(head, []byte(packed.prefix)) {
			return f.unusable(packed.what)
		}
	}
	if bytes.HasPrefix(head, []byte(mark)) {
		if _, err := r.Discard(len(mark)); err != nil {
			return err
		}
		head = head[len(mark):]
	}
	text := bytes.TrimSpace(head)
	switch {
	case len(text) == 0 && err != nil:
		return f.unusable("the file is empty")
	case len(text) > 0 && text[0] == '<':
		return f.unusable("it is a web page (HTML), not data")
	case bytes.IndexByte(text, 0) >= 0 && bytes.Count(text, []byte{0}) >= len(text)/4:
		return f.unusable("it is UTF-16 text, save it as UTF-8")
	case bytes.IndexByte(text, '\r') >= 0 && bytes.IndexByte(text, '\n') < 0:
		return f.unusable("its lines end with a carriage return alone, save it with line feeds (LF or CRLF)")
	}
	return nil
}
