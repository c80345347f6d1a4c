package jobs

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"log/slog"
	"maps"
	"slices"
	"strconv"
	"time"

	"lottery/configs"
	"lottery/jobs/feed"
	"lottery/jobs/importer"
	"lottery/models"
	"lottery/models/store"
)

// Sync fetches what the lotteries publish and imports it.
type Sync struct {
	Store   *store.Store
	Fetcher *feed.Fetcher
	Feeds   configs.Feeds
	Now     func() time.Time // nil = time.Now
	Log     *slog.Logger
}

// SyncOptions is what a person may ask a sync to do.
type SyncOptions struct {
	Feed         string // only this one; "" = all
	AcceptShrink bool   // accept a file that became much smaller
	// AcceptCorrections accepts a response with different digits than before for many draws.
	AcceptCorrections bool
	Whole             bool // read everything, even if it has not changed
}

// FeedSynced is the result of syncing one feed.
type FeedSynced struct {
	Feed        string
	Addresses   int
	NotModified int // URLs that had nothing new
	Summary     models.ImportSummary
	News        []models.Rejection // rejections that the last sync did not have
	Errs        []error            // of the URLs that failed; the others were imported
}

const (
	// shrunk is the fraction of its former size below which a file is refused.
	shrunk = 0.9
	// rewritten is the fraction of a feed's earlier draws above which its corrections are refused.
	rewritten = 0.1
	// fewRewritten is how many corrections are accepted whatever their fraction: a day or two that a lottery mixed up.
	fewRewritten = 20
	// mostDraws is how many draws a response may have, good, wrong or repeated: several times as many as any game has
	// had. They are kept in memory, and so are the rejections, whose names are stored.
	mostDraws = 250_000
	// mostTold is how many of a response's new rejections are logged one by one.
	mostTold = 100
)

// Run syncs the feeds one after the other. A feed or URL that fails does not stop the others. CodeConflict means that
// the database is the demo's.
func (s *Sync) Run(ctx context.Context, o SyncOptions) ([]FeedSynced, error) {
	if err := s.Store.NotDemo(ctx); err != nil {
		return nil, err
	}
	var list []FeedSynced
	for _, p := range publishers(&s.Feeds) {
		if o.Feed != "" && o.Feed != p.feed {
			continue
		}
		out := FeedSynced{Feed: p.feed, Summary: models.ImportSummary{Feed: p.feed, Rejections: map[models.Reason]int{}}}
		if p.dataset != "" {
			s.address(ctx, &out, p.dataset, func(src *models.FeedSource) error { return s.dataset(ctx, &out, &p, src, o) })
		}
		for _, file := range p.files {
			s.address(ctx, &out, file.address, func(src *models.FeedSource) error { return s.file(ctx, &out, src, file.game, o) })
		}
		list = append(list, out)
		if ctx.Err() != nil {
			return list, ctx.Err()
		}
	}
	return list, nil
}

func (s *Sync) now() time.Time {
	if s.Now == nil {
		return time.Now().UTC()
	}
	return s.Now().UTC()
}

// address does the work for one URL and stores how it went.
func (s *Sync) address(ctx context.Context, out *FeedSynced, address string, work func(*models.FeedSource) error) {
	if ctx.Err() != nil {
		return
	}
	out.Addresses++
	src, err := s.Store.FeedSource(ctx, out.Feed, address)
	if err == nil {
		now := s.now().Truncate(time.Microsecond)
		src.CheckedAt = &now
		err = work(&src)
		switch {
		case err == nil:
			src.SucceededAt, src.Error = &now, ""
		case !stopped(ctx):
			src.Error = err.Error()
		}
		after, cancel := s.Store.Lasting(ctx)
		err = errors.Join(err, s.Store.SaveFeedSource(after, src))
		cancel()
	}
	if err != nil && !stopped(ctx) {
		out.Errs = append(out.Errs, fmt.Errorf("%s: %w", address, err))
		s.Log.WarnContext(ctx, "a feed could not be synced; what is stored stays", "feed", out.Feed, "address", address, "error", err)
	}
}

// stopped reports whether the sync was told to end: an error caused by that is not the feed's fault.
func stopped(ctx context.Context) bool { return errors.Is(ctx.Err(), context.Canceled) }

// file syncs one whole file, which holds the draws of one game.
func (s *Sync) file(ctx context.Context, out *FeedSynced, src *models.FeedSource, game string, o SyncOptions) error {
	known := feed.Known{ETag: src.ETag, LastModified: src.LastModified}
	if o.Whole || s.readAgain(src) {
		known = feed.Known{}
	}
	got, err := s.Fetcher.Fetch(ctx, src.Address, known, nil)
	if err != nil {
		return err
	}
	defer got.Close() //nolint:errcheck // a temporary file
	if got.NotModified {
		out.NotModified++
		return nil
	}
	if _, err := s.take(ctx, out, src, response{whole: true, size: got.Size, unit: "bytes", game: game, open: got.Open}, o); err != nil {
		return err
	}
	src.ETag, src.LastModified = got.ETag, got.LastModified
	return nil
}

// readAgain reports whether a file of which draws were rejected is read again although it may not have changed: when it
// was last read, on another day, a draw may have been dated too far ahead, or this machine's clock been too far behind.
func (s *Sync) readAgain(src *models.FeedSource) bool {
	return len(src.Rejected) > 0 && src.WholeAt != nil && models.DateOf(src.WholeAt.UTC()) != models.DateOf(s.now())
}

// response is what a URL returned.
type response struct {
	whole bool   // it is everything that the URL has
	size  int64  // of a whole one, in units
	unit  string // bytes, records
	game  string // whose draws it holds; "" = any of the feed's
	open  func() io.ReadCloser
}

// doubt returns an error for a response that is more likely the publisher's mistake than a correction: one that lost
// more than a tenth of its size, or that has different digits for more than a tenth of the feed's earlier draws, since a
// column, date or time of day may be in the wrong place.
func (r *response) doubt(src *models.FeedSource, held, changed int, o SyncOptions) error {
	switch {
	case r.whole && !o.AcceptShrink && float64(r.size) < shrunk*float64(src.Size):
		return models.Errorf(models.CodeConflict, "it shrank from %d to %d %s and was refused; check it, and if it is correct: `lotteryadmin draws sync --feed %s --accept-shrink`",
			src.Size, r.size, r.unit, src.Feed)
	case !o.AcceptCorrections && changed > fewRewritten && float64(changed) > rewritten*float64(held):
		return models.Errorf(models.CodeConflict, "it changes the digits of %d of %s, and nothing of it was imported; check it, and if it is correct: "+
			"`lotteryadmin draws sync --feed %s --accept-corrections`", changed, models.Count(held, "draw"), src.Feed)
	default:
		return nil
	}
}

// take imports one response, returns how many draws it holds, and finds out which of its rejections are new.
func (s *Sync) take(ctx context.Context, out *FeedSynced, src *models.FeedSource, from response, o SyncOptions) (draws int, _ error) {
	source := importer.Source{
		Name: src.Address, Size: -1, Game: from.game,
		Open: func(context.Context) (io.ReadCloser, error) { return from.open(), nil },
	}
	var rejected []models.Rejection
	done, err := importer.Run(ctx, s.Store, []importer.Source{source}, importer.Options{
		Feed: src.Feed, Now: s.now, MostDraws: mostDraws, OnRejection: func(r models.Rejection) error {
			rejected = append(rejected, r)
			return nil
		},
		Doubt: func(held, changed int) error { return from.doubt(src, held, changed, o) },
	})
	if err != nil {
		return 0, err
	}
	out.Summary.Add(&done.Summary)
	for _, ignored := range done.Summary.IgnoredColumns {
		s.Log.WarnContext(ctx, "a feed has a column that is not known, and not read; if it holds draws or add-on balls, look for a newer version",
			"feed", src.Feed, "address", src.Address, "column", ignored.Column)
	}
	for _, skipped := range done.Summary.SkippedLines {
		s.Log.WarnContext(ctx, "a line of a feed was skipped as a title or a notice, but holds several numbers; if it is a draw, `lotteryadmin draws set` stores it",
			"feed", src.Feed, "address", src.Address, "line", skipped.Line, "text", skipped.Text)
	}
	if n := done.Summary.Withdrawn; n > 0 {
		s.Log.WarnContext(ctx, "a feed does not publish draws any more that came from it, though it has draws before and after them; they stay, until `lotteryadmin draws unset` takes them away",
			"feed", src.Feed, "address", src.Address, "draws", n, "first", done.Summary.WithdrawnDraws[0].String())
	}
	for _, fault := range done.FileErrors {
		if !from.whole && errors.Is(fault, importer.ErrNoDraws) && done.Summary.Rejected == 0 {
			continue // nothing has been drawn since
		}
		return 0, fault.Err
	}
	src.Rejected = s.tellNew(ctx, out, src, from.whole, rejected)
	if done.Summary.AllRejected() {
		return 0, models.Errorf(models.CodeInvalid, "all of its %s are rejected (%s), so its form may have changed: `lotteryadmin draws import --feed %s --dry-run --report FILE URL` says why",
			models.Count(done.Summary.Draws, "draw"), done.Summary.RejectedBy(), src.Feed)
	}
	if from.whole {
		src.Size, src.WholeAt = from.size, src.CheckedAt
	}
	return done.Summary.Draws, nil
}

// tellNew finds out which rejections of a response are new, logs them, and returns the names of those that are known now.
func (s *Sync) tellNew(ctx context.Context, out *FeedSynced, src *models.FeedSource, whole bool, rejected []models.Rejection) []string {
	known, told := setOf(src.Rejected), 0
	// If a lottery changes its form, all draws of its history are rejected at once: a map, not a slice to search.
	names := make(map[string]bool, len(rejected))
	for i := range rejected {
		name := nameOf(&rejected[i])
		if !known[name] && !names[name] {
			out.News = append(out.News, rejected[i])
			if told++; told <= mostTold {
				s.Log.WarnContext(ctx, "a feed has a draw that is not taken", "feed", src.Feed, "address", src.Address, "line", rejected[i].Line,
					"column", rejected[i].Column, "value", rejected[i].Value, "reason", rejected[i].Reason, "detail", rejected[i].Detail)
			}
		}
		names[name] = true
	}
	if told > mostTold {
		s.Log.WarnContext(ctx, "a feed has more draws that are not taken than are told one by one; `lotteryadmin draws import --dry-run --report` lists all",
			"feed", src.Feed, "address", src.Address, "more", told-mostTold)
	}
	if !whole {
		maps.Copy(names, known)
	}
	return slices.Sorted(maps.Keys(names))
}

func setOf(names []string) map[string]bool {
	set := make(map[string]bool, len(names))
	for _, name := range names {
		set[name] = true
	}
	return set
}

// nameOf identifies a rejection across syncs, whatever its line. It leaves out the detail, since that may name lines.
func nameOf(r *models.Rejection) string {
	h := fnv.New64a()
	for _, text := range []string{r.Column, r.Value, string(r.Reason), r.Draw} {
		_, _ = h.Write(append([]byte(text), 0))
	}
	return strconv.FormatUint(h.Sum64(), 36)
}
