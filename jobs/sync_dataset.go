package jobs

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"lottery/jobs/feed"
	"lottery/models"
	"lottery/models/store"
)

const (
	// pageRows is how many records one request asks for; Socrata returns up to 50,000.
	pageRows = 10_000
	// fewRows is how many records Socrata returns unasked. Only a page with fewer is the last: a server, or a cache in
	// front of it, may allow fewer than were asked for, or pass no parameters on.
	fewRows = 1000
	// mostPages stops reading a dataset that never ends.
	mostPages = 50
	// wholeEvery is how often everything is read again, to catch corrections older than lookBack.
	wholeEvery = 7 * 24 * time.Hour
	// lookBack is how many days before the newest draw are read again each time.
	lookBack = 14
	// largestRecord is the most bytes read for one record, of which Socrata's have a few hundred: the decoder keeps a
	// whole record in memory, and one that is compressed well takes no time to send.
	largestRecord = 1 << 20
	// changes is how often a dataset may change while its pages are read before the sync gives up.
	changes = 3
)

// errChanged means that a dataset changed between two of its pages.
var errChanged = errors.New("it changed while its pages were read")

// dataset syncs New York's dataset: recent draws each time, and everything once a week.
func (s *Sync) dataset(ctx context.Context, out *FeedSynced, p *publisher, src *models.FeedSource, o SyncOptions) error {
	since, held, err := s.since(ctx, p)
	if err != nil {
		return err
	}
	whole := !held || o.Whole || src.WholeAt == nil
	if !whole {
		age := s.now().Sub(*src.WholeAt)
		whole = age < -store.ClocksApart || age > wholeEvery // last read long ago, or by a clock that was wrong
	}
	where := ""
	if !whole {
		where = "draw_date >= '" + since.String() + "'"
	}
	var records *joined
	for try := 0; ; try++ {
		records, err = s.pages(ctx, p, where)
		if !errors.Is(err, errChanged) || try == changes {
			break
		}
	}
	if err != nil {
		return err
	}
	defer records.close()
	open := func() io.ReadCloser { return feed.OpenTempFile(records.file) }
	draws, err := s.take(ctx, out, src, response{whole: whole, size: int64(records.rows), unit: "records", open: open}, o)
	if err != nil {
		return err
	}
	if held && (draws == 0 || records.endBefore(since)) {
		return s.refuseEmptied(ctx, p, since, o)
	}
	return nil
}

// since returns the day from which on recent draws are read. held is false if a game has no draws yet.
func (s *Sync) since(ctx context.Context, p *publisher) (_ models.Date, held bool, _ error) {
	holdings, err := s.Store.Holdings(ctx)
	if err != nil {
		return 0, false, err
	}
	oldest := models.LastDate
	for _, game := range p.games {
		h, ok := holdings[game]
		if !ok {
			return 0, false, nil
		}
		oldest = min(oldest, h.Last)
	}
	return oldest - lookBack, true, nil
}

// refuseEmptied returns an error if a dataset has no draw from a day on although it used to. Stored draws of an
// operator or a file do not count: the dataset may never have had them.
func (s *Sync) refuseEmptied(ctx context.Context, p *publisher, since models.Date, o SyncOptions) error {
	if o.AcceptShrink {
		return nil
	}
	n, err := s.Store.DrawsFrom(ctx, p.feed, p.games, since)
	if err != nil || n == 0 {
		return err
	}
	return models.Errorf(models.CodeConflict, "it no longer has any draw from %s on, although %s came from it; the stored ones are kept. "+
		"Check it; use `lotteryadmin draws unset` for draws that never happened", since, models.Count(n, "stored draw"))
}

// joined holds the records of all pages as one JSON array in a file, so that duplicates across pages are noticed.
type joined struct {
	file *os.File
	rows int
	size int
	last json.RawMessage // the newest record
}

func (j *joined) close() { _ = feed.CloseTempFile(j.file) }

// endBefore reports whether the newest record is from before day; false if it has no date in Socrata's form.
func (j *joined) endBefore(day models.Date) bool {
	var record struct {
		Date string `json:"draw_date"`
	}
	if err := json.Unmarshal(j.last, &record); err != nil {
		return false
	}
	text, _, _ := strings.Cut(record.Date, "T")
	date, err := models.ParseDate(text)
	return err == nil && date < day
}

// pages reads a dataset page by page.
func (s *Sync) pages(ctx context.Context, p *publisher, where string) (_ *joined, err error) {
	file, err := feed.NewTempFile("lottery-feed-*")
	if err != nil {
		return nil, fmt.Errorf("keep the records: %w", err)
	}
	out := &joined{file: file}
	defer func() {
		if err != nil {
			out.close()
		}
	}()
	w := bufio.NewWriter(file)
	_ = w.WriteByte('[')
	var version, last string
	for n := 0; ; n++ {
		if n == mostPages {
			return nil, fmt.Errorf("it has more than %d pages, with %d records", mostPages, out.rows)
		}
		address := page(p.dataset, where, out.rows)
		got, err := s.Fetcher.Fetch(ctx, address, feed.Known{}, p.header)
		if err != nil {
			return nil, err
		}
		rows, first, err := out.appendPage(w, got)
		if err = errors.Join(err, got.Close()); err != nil {
			return nil, err
		}
		switch {
		case n > 0 && got.LastModified != version:
			return nil, errChanged
		case n > 0 && rows > 0 && first == last:
			return nil, errors.New("it keeps sending the same page")
		}
		version, last = got.LastModified, first
		if rows < fewRows {
			break
		}
	}
	_, _ = w.WriteString("]\n")
	return out, w.Flush()
}

// appendPage appends a page's records, and returns their number and the text of the first.
func (j *joined) appendPage(w *bufio.Writer, got *feed.Fetched) (rows int, first string, err error) {
	r := got.Open()
	defer r.Close() //nolint:errcheck // it was only read
	// Its limit begins anew with each record.
	in := &io.LimitedReader{R: r, N: largestRecord}
	dec := json.NewDecoder(in)
	token, err := dec.Token()
	if err != nil {
		return 0, "", errors.New("the response is not JSON, or is incomplete")
	}
	if token != json.Delim('[') {
		return 0, "", errors.New("the response is not a list of records")
	}
	for dec.More() {
		in.N = largestRecord
		var record json.RawMessage
		switch err := dec.Decode(&record); {
		case err != nil && in.N == 0:
			return rows, first, fmt.Errorf("record %d: it is larger than %d MiB", rows+1, largestRecord>>20)
		case err != nil:
			return rows, first, fmt.Errorf("record %d cannot be read, or the response is incomplete", rows+1)
		}
		if rows == 0 {
			first = string(record)
		}
		if j.rows > 0 {
			_, _ = w.WriteString(",\n")
		}
		if _, err := w.Write(record); err != nil {
			return rows, first, err
		}
		if j.size += len(record); j.size > feed.MostFetched {
			return rows, first, fmt.Errorf("its pages are larger than %d MiB", feed.MostFetched>>20)
		}
		rows++
		j.rows++
		j.last = record
	}
	if _, err := dec.Token(); err != nil {
		return rows, first, errors.New("the response is incomplete")
	}
	return rows, first, nil
}
