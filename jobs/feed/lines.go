package feed

import (
	"bufio"
	"errors"
	"io"
	"strings"
)

// MaxLine is the longest line, in bytes without its line ending, that is read as data.
const MaxLine = 64 << 10

// FaultTooLong says why a line over MaxLine is not read.
const FaultTooLong = "the line is longer than 64 KiB"

// mark is the byte order mark that some programs put at the beginning of a text.
const mark = "\ufeff"

// Line is one physical line without its line ending: LF, CRLF, or CR CR LF, which a program writes that converts the LF
// of a CRLF to CRLF.
type Line struct {
	Number  int // from 1
	Text    string
	TooLong bool // over MaxLine; Text is its beginning
}

// Lines reads a text line by line. A row is one line in every form: a broken quote costs one row, never the rest of the
// file, and memory does not grow with the file.
type Lines struct {
	r    *bufio.Reader
	read int
}

// NewLines reads from r, whose buffer must hold at least MaxLine+2 bytes (Form.Read sees to that).
func NewLines(r *bufio.Reader) *Lines { return &Lines{r: r} }

// Count returns how many lines have been read.
func (l *Lines) Count() int { return l.read }

// Next returns the next line, or io.EOF after the last.
func (l *Lines) Next() (Line, error) {
	b, err := l.r.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		return l.skipRest(string(b[:keptOfLong]))
	}
	if err != nil && (!errors.Is(err, io.EOF) || len(b) == 0) {
		return Line{}, err
	}
	l.read++
	text := strings.TrimRight(strings.TrimSuffix(string(b), "\n"), "\r")
	text = strings.TrimPrefix(text, mark) // concatenated files have it again
	if len(text) > MaxLine {
		return Line{l.read, text[:keptOfLong], true}, nil
	}
	return Line{Number: l.read, Text: text}, nil
}

// Each calls read with every remaining line and returns how many lines have been read in total. It stops at the first
// error, read's or the reader's.
func (l *Lines) Each(read func(Line) error) (count int, err error) {
	for {
		line, err := l.Next()
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
			return Line{l.read, beginning, true}, nil
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return Line{}, err
		}
	}
}
