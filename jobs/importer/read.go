package importer

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"

	"lottery/jobs/feed"
	"lottery/models"
)

// file is one source after reading and checking.
type file struct {
	name       string
	failed     error // why it cannot be used; rows is then empty
	lines      int
	skipped    int // lines without a candidate
	ignored    []models.IgnoredColumn
	mayBeDraws []models.SkippedLine // of the skipped lines, those with many numbers
	rows       []row                // the acceptable draws, by key, then in file order
	rejections rejections
	first      *models.Rejection     // the first in the file, for a file of which every draw is rejected
	rejected   map[models.Reason]int // without the conflicts, which the plan adds
	doubtful   []models.Date         // the days of rejected draws: what is stored of them may be meant
	planned
}

// fail makes f one that cannot be used.
func (f *file) fail(err error) error {
	closed := f.rejections.close()
	*f = file{name: f.name, failed: err, ignored: f.ignored}
	return closed
}

// reading is the state while a file is being read.
type reading struct {
	run      *run
	source   Source
	file     *file
	index    uint32 // the next candidate's index
	lastLine int    // line of the latest candidate
	covered  int    // lines that yielded a candidate
	draws    int    // candidates that were draws, rejected ones included
	stranger string // another game that some draws were of
	broken   error  // an error of the importer itself, not of the file
}

// read reads and checks one source. What is wrong with the file is in file.failed; the error is anything else. The
// caller must close the file's rejections, whatever the error.
func (r *run) read(ctx context.Context, source Source) (*file, error) {
	f := &file{name: source.Name, rejected: map[models.Reason]int{}}
	f.rejections.wanted = r.opts.OnRejection != nil
	s := &reading{run: r, source: source, file: f}
	lines, err := s.parse(ctx)
	if err == nil && s.stranger != "" && len(f.rows) == 0 {
		err = models.Errorf(models.CodeConflict, "it has draws of %s but none of %s, whose file is expected here: nothing is imported from it", s.stranger, source.Game)
	}
	switch {
	case ctx.Err() != nil:
		return f, ctx.Err()
	case s.broken != nil:
		return f, s.broken
	case err != nil:
		return f, f.fail(err)
	}
	f.lines, f.skipped = lines, lines-s.covered
	if s.draws == 0 {
		f.failed = s.nothing()
		return f, nil
	}
	slices.SortFunc(f.rows, func(a, b row) int {
		if c := cmp.Compare(a.key, b.key); c != 0 {
			return c
		}
		return cmp.Compare(a.index, b.index)
	})
	slices.Sort(f.doubtful)
	return f, nil
}

func (s *reading) parse(ctx context.Context) (lines int, err error) {
	in, err := s.source.Open(ctx)
	if err != nil {
		return 0, err
	}
	defer func() {
		if closed := in.Close(); err == nil && closed != nil {
			err = fmt.Errorf("read %s: %w", s.source.Name, closed)
		}
	}()
	counted := &countedReader{ctx: ctx, r: in, at: func(n int64) {
		s.run.progress.at(Progress{s.source.Name, PhaseReading, n, s.source.Size})
	}}
	form := s.run.form
	form.OnIgnored = func(column string) {
		s.file.ignored = append(s.file.ignored, models.IgnoredColumn{File: s.source.Name, Column: feed.Shown(column)})
	}
	form.OnSkipped = func(line int, text string) {
		if s.index > 0 && len(s.file.mayBeDraws) < models.MostSkipped {
			s.file.mayBeDraws = append(s.file.mayBeDraws, models.SkippedLine{File: s.source.Name, Line: line, Text: feed.Shown(text)})
		}
	}
	return form.Read(counted, s.take)
}

// take checks one candidate and stores it as a row or as a rejection.
func (s *reading) take(c *feed.Candidate) error {
	f, r := s.file, s.run
	index := s.index
	if int(index) >= r.opts.MostDraws {
		return models.Errorf(models.CodeInvalid, "it has more than %d draws, several times what any lottery has drawn: the file is damaged", r.opts.MostDraws)
	}
	s.index++
	if c.Line != s.lastLine {
		s.lastLine = c.Line
		s.covered++
	}
	game, number, fault := r.games.check(c)
	if wanted := s.source.Game; fault == nil && wanted != "" && c.GameID != wanted {
		s.stranger = c.GameID
		fault = strangers(c, wanted)
	}
	if fault != nil {
		f.rejected[fault.reason]++
		f.doubt(c)
		if readable(fault.reason) {
			s.draws++
		}
		rejection := models.Rejection{
			File: f.name, Line: c.Line, Column: feed.Shown(fault.cell.Column), Value: feed.Shown(fault.cell.Value),
			Reason: fault.reason, Detail: fault.detail, Draw: c.Identity(),
		}
		if f.first == nil {
			f.first = &rejection
		}
		s.broken = f.rejections.add(index, rejection)
		return s.broken
	}
	s.draws++
	written := uint8(len(c.Number))
	if c.Balls {
		written |= withCommas
	}
	f.rows = append(f.rows, row{
		key: newKey(game, c.Date, c.Tod, c.Sequence), number: number, line: uint32(c.Line), index: index,
		addons: r.addons.number(c.Addons), column: r.columns.number(c.NumberCell.Column), written: written,
	})
	s.broken = r.addons.sets.err
	return s.broken
}

// nothing returns the error for a file in which no candidate is a draw.
func (s *reading) nothing() error {
	found, first := "there is no line that could be a draw", ""
	if r := s.file.first; r != nil {
		summary := s.file.summary()
		found = "every line that could be a draw is rejected (" + summary.RejectedBy() + ")"
		first = fmt.Sprintf("; the first is line %d: %s %q: %s", r.Line, r.Reason, r.Value, r.Detail)
	}
	return noDraws{models.Errorf(models.CodeInvalid, "of %s, %s: expected %s%s", models.Count(s.file.lines, "line"), found, s.run.form.Expected, first)}
}

// countedReader counts what is read, and fails once ctx has ended.
type countedReader struct {
	ctx  context.Context
	r    io.Reader
	read int64
	at   func(read int64)
}

func (c *countedReader) Read(b []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := c.r.Read(b)
	c.read += int64(n)
	c.at(c.read)
	return n, err
}
