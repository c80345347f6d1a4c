package feed

import (
	"bufio"
	"bytes"
	"errors"
	"io"

	"lottery/models"
)

// Form describes a feed's published form.
type Form struct {
	Feed     string // models.Feed…
	Expected string // what a good file looks like; ends the sentence "expected …"
	Dates    string // how a date is written; ends the sentence "a date written as …"
	// Whole is set if a file holds all draws of a game at a time of day from its first date to its last: one that is
	// missing in between is really absent.
	Whole bool

	// Parse yields the candidates of r, in the order of their lines, and returns how many physical lines it read (a
	// last one without a newline counts). It stops at the first error of r or of yield. A fault that makes the whole
	// file unusable is a models.Error. A candidate is valid until yield returns. f is the form itself, for such errors
	// and for OnIgnored and OnSkipped.
	Parse func(f Form, r *bufio.Reader, yield func(*Candidate) error) (lines int, err error)

	// OnIgnored, if not nil, is called once for each column, or key of a record, that the form does not know and that
	// has a value somewhere: those values are not read. A column without a name is given by its 1-based number.
	OnIgnored func(column string)

	// OnSkipped, if not nil, is called for each line that the form takes for a title or a disclaimer though it holds
	// several numbers: no rule recognizes a draw however it is written.
	OnSkipped func(line int, text string)
}

// Read checks the first bytes of r, which distinguish data from an empty file or a web page, and parses the rest.
func (f Form) Read(r io.Reader, yield func(*Candidate) error) (lines int, err error) {
	buffered := bufio.NewReaderSize(r, MaxLine+2)
	if err := f.sniff(buffered); err != nil {
		return 0, err
	}
	f.OnIgnored = onceEach(f.OnIgnored)
	return f.Parse(f, buffered, yield)
}

// unusable returns the error for a file that is something else: found says what.
func (f Form) unusable(found string) error {
	return models.Errorf(models.CodeInvalid, "%s: expected %s", found, f.Expected)
}

// Sniffed is how many bytes at the beginning of a file are enough to tell what it is.
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
		return f.unusable("it is a web page (HTML) or XML, not data")
	case bytes.IndexByte(text, 0) >= 0 && bytes.Count(text, []byte{0}) >= len(text)/4:
		return f.unusable("it is UTF-16 text, save it as UTF-8")
	case bytes.IndexByte(text, '\r') >= 0 && bytes.IndexByte(text, '\n') < 0:
		return f.unusable("its lines end with a carriage return alone, save it with line feeds (LF or CRLF)")
	}
	return nil
}
