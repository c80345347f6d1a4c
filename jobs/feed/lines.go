package feed

import (
	"bufio"
	"errors"
	"io"
	"strings"
)

// MaxLine is the longest line, in bytes without its line ending, that is read as data.
const MaxLine = 64 << 10

// Why a line cannot be read, whatever its form. A program that appends UTF-16 to a file of UTF-8 leaves a NUL in every
// character; a script that puts downloads together may have got a web page for one of them. Such lines look like no
// row, but must not be taken for titles.
const (
	faultTooLong = "the line is longer than 64 KiB"
	faultPage    = "a web page (HTML) begins here, where data was expected: get that part of the file again"
	faultNUL     = "the line has NUL characters, as UTF-16 text has that was appended to a file: save all of the file as UTF-8"
)

// mark is the byte order mark that some programs put at the beginning of a text.
const mark = "\ufeff"

// Line is one physical line without its line ending: LF, CRLF, or CR CR LF, which a program writes that converts the LF
// of a CRLF to CRLF.
type Line struct {
	Number int // from 1
	Text   string
	Fault  string // why the line cannot be read; "" = it can. Of a line over MaxLine, Text is the beginning
	Open   bool   // the text ends here, without a line ending: it may have been cut off
}

// Lines reads a text line by line. A row is one line in every form: a broken quote costs one row, never the rest of the
// file, and memory does not grow with the file.
type Lines struct {
	r    *bufio.Reader
	read int
}

// NewLines reads from r, whose buffer must hold at least MaxLine+2 bytes (Form.Read sees to that).
func NewLines(r *bufio.Reader) *Lines { return &Lines{r: r} }

// next returns the next line, or io.EOF after the last.
func (l *Lines) next() (Line, error) {
	b, err := l.r.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		return l.skipRest(string(b[:keptOfLong]))
	}
	if err != nil && (!errors.Is(err, io.EOF) || len(b) == 0) {
		return Line{}, err
	}
	l.read++
	open := err != nil
	text := strings.TrimRight(strings.TrimSuffix(string(b), "\n"), "\r")
	text = strings.TrimPrefix(text, mark) // concatenated files have it again
	if len(text) > MaxLine {
		return Line{l.read, text[:keptOfLong], faultTooLong, open}, nil
	}
	if strings.IndexByte(text, 0) >= 0 {
		if allBlank(strings.Split(text, "\x00")) { // a blank line, or the second half of the last line's end
			return Line{Number: l.read}, nil
		}
		return Line{l.read, text, faultNUL, open}, nil
	}
	if pageBegins(text) {
		return Line{l.read, text, faultPage, open}, nil
	}
	return Line{Number: l.read, Text: text, Open: open}, nil
}

// pageBegins reports whether a line is the first of a web page.
func pageBegins(line string) bool {
	line = strings.TrimLeft(line, " \t")
	for _, tag := range []string{"<!doctype html", "<html"} {
		if len(line) >= len(tag) && strings.EqualFold(line[:len(tag)], tag) {
			return true
		}
	}
	return false
}

// Each calls read with every remaining line and returns how many lines have been read in total. It stops at the first
// error, read's or the reader's.
func (l *Lines) Each(read func(Line) error) (count int, err error) {
	for {
		line, err := l.next()
		if errors.Is(err, io.EOF) {
			return l.read, nil
		}
		if err == nil {
			err = read(line)
		}
		if err != nil {
			return l.read, err
		}
	}
}

// keptOfLong is how many bytes are kept of a line that is too long.
const keptOfLong = 1024

func (l *Lines) skipRest(beginning string) (Line, error) {
	for {
		_, err := l.r.ReadSlice('\n')
		if err == nil || errors.Is(err, io.EOF) {
			l.read++
			return Line{Number: l.read, Text: beginning, Fault: faultTooLong, Open: err != nil}, nil
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return Line{}, err
		}
	}
}
