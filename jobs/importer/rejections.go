package importer

import (
	"bufio"
	"bytes"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"os"

	"lottery/jobs/feed"
	"lottery/models"
)

// rejections stores a file's rejections until the plan is known, since the plan's own come between them in the report.
// Beyond maxKept bytes they go to a temporary file: all of a million lines may be rejected.
type rejections struct {
	wanted  bool // false = nobody will ask, so nothing is kept
	kept    bytes.Buffer
	spilled *os.File
	out     *bufio.Writer
	encoder *gob.Encoder
}

const maxKept = 1 << 20

type keptRejection struct {
	Index uint32
	models.Rejection
}

func (r *rejections) add(index uint32, rejection models.Rejection) error {
	if !r.wanted {
		return nil
	}
	if r.encoder == nil {
		r.encoder = gob.NewEncoder(r)
	}
	return r.encoder.Encode(keptRejection{index, rejection})
}

// Write receives what the encoder writes.
func (r *rejections) Write(b []byte) (int, error) {
	if r.spilled == nil && r.kept.Len()+len(b) <= maxKept {
		return r.kept.Write(b)
	}
	if r.spilled == nil {
		spilled, err := feed.NewTempFile("lottery-rejections-*")
		if err != nil {
			return 0, fmt.Errorf("keep the rejections: %w", err)
		}
		r.spilled, r.out = spilled, bufio.NewWriterSize(spilled, 1<<16)
		if _, err := r.kept.WriteTo(r.out); err != nil {
			return 0, fmt.Errorf("keep the rejections: %w", err)
		}
	}
	return r.out.Write(b)
}

// each yields what was added, in that order.
func (r *rejections) each(yield func(index uint32, rejection models.Rejection) error) error {
	var in io.Reader = bytes.NewReader(r.kept.Bytes())
	if r.spilled != nil {
		if err := r.out.Flush(); err != nil {
			return fmt.Errorf("keep the rejections: %w", err)
		}
		if _, err := r.spilled.Seek(0, io.SeekStart); err != nil {
			return fmt.Errorf("keep the rejections: %w", err)
		}
		in = bufio.NewReaderSize(r.spilled, 1<<16)
	}
	decoder := gob.NewDecoder(in)
	for {
		var kept keptRejection
		err := decoder.Decode(&kept)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read the rejections back: %w", err)
		}
		if err := yield(kept.Index, kept.Rejection); err != nil {
			return err
		}
	}
}

// close releases the memory and the temporary file.
func (r *rejections) close() error {
	spilled := r.spilled
	*r = rejections{}
	return feed.CloseTempFile(spilled)
}
