// Package importer takes a feed's files into the database: rows → checked against their game → planned against what is
// stored → one transaction per file → summary.
//
// The rules, the same for all feeds:
//   - Rejection is per draw. The reasons are tried in the order of models.ReasonMalformed … ReasonConflict and the
//     first that applies is reported; a draw rejected for another reason takes no part in conflicts.
//   - Within one file, repeats of a draw (same slot, same number, add-ons equal or absent) are duplicates; two
//     numbers, or two values of one add-on, in one slot reject all lines of that slot.
//   - Against the stored draw: nothing there → inserted; a slot that an operator unset, or other digits than an
//     operator's → overruled; same digits → unchanged; other digits → corrected if the stored draw came from
//     the same feed or a lower one (models.FeedRank), else a conflict. If the feed may correct, an add-on that
//     is new or different is a correction too; an absent one never erases.
//   - A file that cannot be read, or that holds no draw, is a FileError: it changes nothing, and the other files stand.
//   - Draws that came from the same feed but are missing between draws of the file stay, and are reported (Withdrawn).
//   - Columns that a lottery's form does not have are not read; the summary names those that have values.
//   - Strict: any rejection or FileError, in any file → no file is imported. Strict imports are one transaction.
package importer

import (
	"cmp"
	"context"
	"errors"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"lottery/jobs/feed"
	"lottery/jobs/feed/generic"
	"lottery/jobs/feed/northcarolina"
	"lottery/jobs/feed/nyopendata"
	"lottery/jobs/feed/texas"
	"lottery/jobs/feed/virginia"
	"lottery/models"
	"lottery/models/store"
)

// Source is one file to import.
type Source struct {
	Name string // a file name, a URL, or "-"
	Size int64  // bytes, -1 = unknown; only for Progress
	// Game is the game whose draws the source holds, if that is known: draws of other games are rejected, and a file
	// without any draw of the game is not used. "" = any game of the feed.
	Game string
	Open func(ctx context.Context) (io.ReadCloser, error)
}

// Options configures an import.
type Options struct {
	Feed   string // one of Feeds
	DryRun bool   // plan and report, write nothing
	Strict bool   // import all files, or none if anything is rejected
	Now    func() time.Time
	// MostDraws is how many draws a file may have, rejected and repeated ones included; one with more is not imported.
	// 0 = as many as can be counted.
	MostDraws int
	// Patience is how long to keep planning again if others change the draws in the meantime; 0 = ten minutes.
	Patience time.Duration

	// Doubt, if not nil, is called for each planned file: held of its draws are stored as the feed's own earlier word,
	// and rewritten of those would get different digits. Its error becomes a FileError, and nothing of the files that are
	// imported together with it is written.
	Doubt func(held, rewritten int) error

	// Progress, if not nil, is called at most four times a second, and never at the same time as OnRejection.
	Progress func(Progress)
	// OnRejection, if not nil, gets every rejection: by file, then line, then column, once a file's outcome is settled.
	// Its error stops the command; files already imported stay.
	OnRejection func(models.Rejection) error
}

// FileError is a file that could not be used. It changed nothing.
type FileError struct {
	File string
	Err  error
}

func (e FileError) Error() string { return e.File + ": " + e.Err.Error() }

// Unwrap returns the cause; errors.Is(e, ErrNoDraws) identifies a file that was readable but held no draw.
func (e FileError) Unwrap() error { return e.Err }

// Result is what an import did, or would have done.
type Result struct {
	Summary    models.ImportSummary // over all files
	FileErrors []FileError
	Refused    bool // nothing was imported: Strict, and there was a rejection or a FileError
}

// ErrNoDraws marks the error of a file that holds no draw, such as an empty response of an API.
var ErrNoDraws = errors.New("no draws")

// noDraws is an ErrNoDraws with its own text for the operator.
type noDraws struct{ error }

func (noDraws) Is(target error) bool { return target == ErrNoDraws }
func (e noDraws) Unwrap() error      { return e.error }

var forms = []feed.Form{nyopendata.Form, texas.Form, northcarolina.Form, virginia.Form, generic.Form}

// Feeds lists the ids of the known feeds.
func Feeds() []string {
	ids := make([]string, len(forms))
	for i, f := range forms {
		ids[i] = f.Feed
	}
	return ids
}

func formOf(id string) (feed.Form, error) {
	for _, f := range forms {
		if f.Feed == id {
			return f, nil
		}
	}
	return feed.Form{}, models.Errorf(models.CodeInvalid, "%q is not a feed; use one of %s", id, strings.Join(Feeds(), ", "))
}

// Run imports sources in order. Its error is one that stops the whole command (an unknown feed, the database away, ctx
// ended, OnRejection failing); what is wrong with a single file is in the Result.
func Run(ctx context.Context, st *store.Store, sources []Source, opts Options) (Result, error) {
	result := Result{Summary: models.ImportSummary{Feed: opts.Feed, Files: len(sources), Rejections: map[models.Reason]int{}}}
	form, err := formOf(opts.Feed)
	if err != nil {
		return result, err
	}
	if opts.Now == nil {
		opts.Now = time.Now
	}
	opts.Patience = cmp.Or(opts.Patience, 10*time.Minute)
	opts.MostDraws = cmp.Or(opts.MostDraws, min(math.MaxUint32, math.MaxInt))
	started := opts.Now()
	games, err := st.Games(ctx)
	if err != nil {
		return result, err
	}
	r := &run{
		store: st, form: form, opts: opts, started: started,
		games: newGameTable(games, started, form.Dates), columns: newNameTable(), feeds: newNameTable(), addons: newAddonTable(),
		progress: &meter{tell: opts.Progress},
		result:   result,
	}
	atOnce := 1
	if opts.Strict || opts.DryRun {
		atOnce = max(1, len(sources))
	}
	for some := range slices.Chunk(sources, atOnce) {
		if err = r.together(ctx, some); err != nil {
			break
		}
	}
	if closed := r.addons.sets.close(); err == nil {
		err = closed
	}
	if err != nil && ctx.Err() != nil {
		err = ctx.Err() // rather than the database's version of it
	}
	r.result.Summary.DurationMS = opts.Now().Sub(started).Milliseconds()
	return r.result, err
}
