package jobs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"

	"lottery/models"
	"lottery/models/catalog"
	"lottery/models/store"
)

// versionInterval is how often a node checks whether the draws changed. Together with the time to build the index of
// 250,000 draws, it stays well under the 2 seconds that are promised.
const versionInterval = 100 * time.Millisecond

// How long to wait for a database that neither answers nor refuses: for the version, and for the next draws.
const (
	versionTimeout  = 5 * time.Second
	defaultPatience = 30 * time.Second
)

var errSilent = errors.New("no draw has come from the database for too long")

// Refresher keeps a node's index of draws up to date with the database.
type Refresher struct {
	Store *store.Store
	Live  *catalog.Live
	Log   *slog.Logger
	// Metrics records the refreshes; nil = none.
	Metrics *CatalogMetrics
	// Patience is how long to wait for the next draws; 0 = half a minute.
	Patience time.Duration
}

// Refresh rebuilds the index and swaps it in, if the draws changed since the last build.
func (r *Refresher) Refresh(ctx context.Context) error {
	if current := r.Live.Load(); current != nil {
		asked, cancel := context.WithTimeout(ctx, versionTimeout)
		defer cancel()
		v, err := r.Store.DataVersion(asked)
		if err != nil || v.Token == current.Version().Token {
			return err
		}
	}
	start := time.Now()
	next, err := r.build(ctx)
	if err != nil {
		return fmt.Errorf("build the index: %w", err)
	}
	r.Live.Swap(next)
	r.Metrics.loaded(time.Since(start))
	r.Log.Info("index built", "data_version", next.Version().String(), "games", len(next.Games()),
		"draws", next.TotalDraws(), "took_ms", time.Since(start).Milliseconds())
	// Return the garbage of the build, and the old index, to the system at once instead of over minutes.
	debug.FreeOSMemory()
	return nil
}

// build reads all draws in one snapshot. It leaves out and logs a row that cannot be a draw, for instance one written
// by hand: one bad row must not keep a node from starting.
func (r *Refresher) build(ctx context.Context) (*catalog.Catalog, error) {
	patience := cmp.Or(r.Patience, defaultPatience)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	watchdog := time.AfterFunc(patience, func() { cancel(errSilent) })
	defer watchdog.Stop()
	var b *catalog.Builder
	read, bad := 0, 0
	err := r.Store.LoadDraws(ctx, func(v models.DataVersion) { b = catalog.NewBuilder(v) }, func(g models.Game) store.DrawFunc {
		watchdog.Reset(patience)
		game := b.Game(g)
		return func(date models.Date, tod models.Tod, sequence int, number []byte) error {
			if read++; read%4096 == 0 {
				watchdog.Reset(patience)
			}
			if err := game.Add(date, tod, sequence, number); err != nil {
				if bad++; bad == 1 {
					day := date.String()
					if date < models.FirstDate { // how LoadDraws returns an unreadable date
						day, err = "", errors.New("its date cannot be read")
					}
					r.Log.Error("a stored draw is impossible and is left out; `lotteryadmin draws verify` lists all such", "game", g.ID, "date", day, "tod", tod, "error", err)
				}
			}
			return nil
		}
	})
	if errors.Is(context.Cause(ctx), errSilent) {
		return nil, models.Errorf(models.CodeUnavailable, "%v", errSilent)
	}
	if err != nil {
		return nil, err
	}
	return b.Build()
}

// Run refreshes the index until ctx ends. While the database is away, the index stays as it is.
func (r *Refresher) Run(ctx context.Context) {
	tick := time.NewTicker(versionInterval)
	defer tick.Stop()
	var outage store.Outage
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		err := r.Refresh(ctx)
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			r.Metrics.failed()
		}
		outage.Note(r.Log, err, "the draws cannot be checked for changes; answers go on from memory", "the draws can be checked for changes again")
	}
}
