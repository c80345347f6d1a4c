package importer

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"io"
	"os"

	"lottery/jobs/feed"
)

// textStore stores texts one after another in pieces of memory. All but the first pieces go to a temporary file: each
// of a million lines may have a remark.
type textStore struct {
	pieces  [][]byte // the first ones, and the one being filled
	filled  int      // how many are full
	spilled *os.File // holds full pieces by their number
	buf     []byte
	err     error // the temporary file's first error; texts are then unreliable
}

const (
	pieceShift = 20 // log2 of a piece's bytes; the longest line fits many times
	mostPieces = 24 // how many stay in memory
)

// add stores a text and returns its place.
func (s *textStore) add(text []byte) uint64 {
	if len(s.pieces) == 0 || len(s.pieces[len(s.pieces)-1])+len(text)+binary.MaxVarintLen32 > 1<<pieceShift {
		s.next()
	}
	last := &s.pieces[len(s.pieces)-1]
	place := uint64(s.filled)<<pieceShift | uint64(len(*last))
	*last = append(binary.AppendUvarint(*last, uint64(len(text))), text...)
	return place
}

// next begins a new piece.
func (s *textStore) next() {
	if len(s.pieces) > 0 {
		s.filled++
	}
	if len(s.pieces) <= mostPieces {
		s.pieces = append(s.pieces, make([]byte, 0, 1<<pieceShift))
		return
	}
	last := &s.pieces[mostPieces]
	if s.spilled == nil && s.err == nil {
		var err error
		s.spilled, err = feed.NewTempFile("lottery-addons-*")
		s.fail(err)
	}
	if s.err == nil {
		_, err := s.spilled.WriteAt(*last, int64(s.filled-1)<<pieceShift)
		s.fail(err)
	}
	*last = (*last)[:0]
}

// fail records the first error.
func (s *textStore) fail(err error) bool {
	if err != nil && s.err == nil {
		s.err = fmt.Errorf("keep the add-ons: %w", err)
	}
	return err != nil
}

// text returns the text at a place. It is valid until the next call.
func (s *textStore) text(place uint64) []byte {
	piece, from := int(place>>pieceShift), place&(1<<pieceShift-1)
	var rest []byte
	switch {
	case piece < min(s.filled, mostPieces):
		rest = s.pieces[piece][from:]
	case piece == s.filled:
		rest = s.pieces[len(s.pieces)-1][from:]
	default:
		return s.readBack(int64(place))
	}
	n, head := binary.Uvarint(rest)
	return rest[head:][:n]
}

// readBack reads a text from the file.
func (s *textStore) readBack(place int64) []byte {
	var head [binary.MaxVarintLen32]byte
	if s.err != nil {
		return nil
	}
	read, err := s.spilled.ReadAt(head[:], place)
	n, used := binary.Uvarint(head[:read])
	if used <= 0 {
		s.fail(cmp.Or(err, io.ErrUnexpectedEOF))
		return nil
	}
	if cap(s.buf) < int(n) {
		s.buf = make([]byte, n)
	}
	s.buf = s.buf[:n]
	if _, err := s.spilled.ReadAt(s.buf, place+int64(used)); s.fail(err) {
		return nil
	}
	return s.buf
}

// close releases the temporary file. It returns an error if any text was unreliable.
func (s *textStore) close() error {
	s.fail(feed.CloseTempFile(s.spilled))
	return s.err
}
