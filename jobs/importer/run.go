package importer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"lottery/jobs/feed"
	"lottery/models"
	"lottery/models/store"
)

// run is the state of one import command.
type run struct {
	store    *store.Store
	form     feed.Form
	opts     Options
	started  time.Time
	games    *gameTable
	columns  *nameTable
	feeds    *nameTable
	addons   *addonTable
	progress *meter
	result   Result
}

// together plans files before it writes any of them, each against the database as the ones before it would leave it,
// and then writes them in one transaction, unless only a plan is wanted or Strict refuses them.
func (r *run) together(ctx context.Context, sources []Source) (err error) {
	var files, usable []*file
	defer func() {
		for _, f := range files {
			if closed := f.rejections.close(); err == nil {
				err = closed
			}
		}
	}()
	for _, source := range sources {
		f, err := r.read(ctx, source)
		files = append(files, f)
		if err != nil {
			return err
		}
		if f.failed == nil {
			usable = append(usable, f)
		}
	}
	if err := r.planAndMerge(ctx, usable); err != nil {
		return err
	}
	for _, f := range files {
		if err := r.report(f); err != nil {
			return err
		}
	}
	r.result.Refused = r.opts.Strict && (r.result.Summary.Rejected > 0 || len(r.result.FileErrors) > 0)
	return nil
}

// longestPause is the longest pause before the same files are planned again.
const longestPause = time.Second

// planAndMerge plans the files and writes them, unless only a plan is wanted. If others (imports, operators) changed
// the draws before the write, it plans again, each time after a longer pause, so that every one of many writers gets
// its turn.
func (r *run) planAndMerge(ctx context.Context, files []*file) error {
	if len(files) == 0 {
		return nil
	}
	for began, pause := time.Now(), 10*time.Millisecond; time.Since(began) < r.opts.Patience; pause = min(2*pause, longestPause) {
		version, err := r.store.DataVersion(ctx)
		if err != nil {
			return err
		}
		if err := r.sameGames(ctx, files); err != nil {
			return err
		}
		var before overlay
		for i, f := range files {
			if err := r.plan(ctx, f, before); err != nil {
				return err
			}
			if r.opts.Doubt != nil {
				if doubt := r.opts.Doubt(f.held, f.rewritten); doubt != nil {
					return f.fail(doubt)
				}
			}
			if i < len(files)-1 {
				before = before.with(f)
			}
		}
		if r.opts.DryRun || (r.opts.Strict && r.wouldRefuse(files)) {
			return nil
		}
		err = r.merge(ctx, version.Number, files)
		if !errors.Is(err, store.ErrStale) {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(rand.N(pause)):
		}
	}
	return models.Errorf(models.CodeUnavailable, "other programs kept changing the draws for %s: run it again", r.opts.Patience)
}

// sameGames returns an error if a game of the files' rows is no longer as these were checked by: an operator took a
// time of day from it, or removed it and added one with other digits.
func (r *run) sameGames(ctx context.Context, files []*file) error {
	games, err := r.store.Games(ctx)
	if err != nil {
		return err
	}
	for i := range games {
		at, known := r.games.index[games[i].ID]
		if !known || !slices.ContainsFunc(files, func(f *file) bool { return f.has(at) }) {
			continue
		}
		if was := &r.games.games[at]; was.Tods&^games[i].Tods != 0 || was.Digits != games[i].Digits {
			return models.Errorf(models.CodeConflict, "the game %s was changed meanwhile: run it again", was.ID)
		}
	}
	return nil
}

func (r *run) wouldRefuse(files []*file) bool {
	rejected := r.result.Summary.Files != len(files) // some could not be read
	for _, f := range files {
		rejected = rejected || f.summary().Rejected > 0
	}
	return rejected
}

// merge writes the planned files in one transaction.
func (r *run) merge(ctx context.Context, basis int64, files []*file) error {
	total := 0
	for _, f := range files {
		total += f.changes()
	}
	done := 0
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	merges := make([]store.Merge, len(files))
	for i, f := range files {
		summary := f.summary()
		summary.Feed, summary.Files = r.form.Feed, 1
		summary.DurationMS = r.opts.Now().Sub(r.started).Milliseconds()
		merges[i] = store.Merge{
			Run: models.ImportRun{Feed: r.form.Feed, Source: f.name, FinishedAt: r.opts.Now().UTC(), Summary: summary},
			Changes: func(yield func(store.DrawChange) bool) {
				for c := range r.drawChanges(f) {
					done++
					r.progress.at(Progress{f.name, PhaseWriting, int64(done), int64(total)})
					if err := r.addons.sets.err; err != nil {
						stop(err) // rolls back what was written so far
						return
					}
					if !yield(c) {
						return
					}
				}
			},
		}
	}
	if err := r.store.MergeDraws(ctx, basis, merges, r.opts.Now()); err != nil {
		return fmt.Errorf("import %s: %w", files[0].name, cmp.Or(context.Cause(ctx), err))
	}
	return nil
}

// report adds f's outcome to the result and yields its rejections.
func (r *run) report(f *file) error {
	if f.failed != nil {
		r.result.FileErrors = append(r.result.FileErrors, FileError{f.name, f.failed})
	}
	summary := f.summary()
	r.result.Summary.Add(&summary)
	if r.opts.OnRejection == nil {
		return nil
	}
	return r.eachRejection(f, r.opts.OnRejection)
}
