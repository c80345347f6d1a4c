package admin

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"lottery/jobs"
	"lottery/jobs/feed"
	"lottery/models"
)

func (t *tool) drawsSync() *cli.Command {
	return &cli.Command{
		Name: "sync", Usage: "fetch and import what the lotteries publish",
		Description: "New York's dataset is read from 14 days before its newest draw, and in full once a week; the other feeds'\n" +
			"files are read when they have changed. A feed that fails does not stop the others. A file that shrank by\n" +
			"more than a tenth is refused, and so is one that changes the digits of more than a tenth of its draws and\n" +
			"of more than 20. A dataset that no longer has its recent draws fails, and so does a response of which every\n" +
			"draw is rejected. If only some are, the exit code is 3; those that were not rejected at the last sync are\n" +
			"listed.\n\nExample:\n  lotteryadmin draws sync --feed nc-lottery",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "feed", Usage: "only the feed `" + strings.Join(jobs.SyncedFeeds(), "|") + "`"},
			&cli.BoolFlag{Name: "accept-shrink", Usage: "accept files that became much smaller, and a dataset without its newest draws"},
			&cli.BoolFlag{Name: "accept-corrections", Usage: "accept files that change the digits of many draws"},
			&cli.BoolFlag{Name: "whole", Usage: "read everything, even what has not changed"},
		},
		Action: t.stored(audited(drawsSync)),
	}
}

// synced is the result of syncing one feed.
type synced struct {
	Feed          string                `json:"feed"`
	Addresses     int                   `json:"addresses"`
	NotModified   int                   `json:"not_modified"`
	Lines         int                   `json:"lines"`
	Draws         int                   `json:"draws"`
	Inserted      int                   `json:"inserted"`
	Unchanged     int                   `json:"unchanged"`
	Corrected     int                   `json:"corrected"`
	Duplicate     int                   `json:"duplicate"`
	Overruled     int                   `json:"overruled"`
	Rejected      int                   `json:"rejected"`
	Skipped       int                   `json:"skipped"`
	Rejections    map[models.Reason]int `json:"rejections"`
	NewRejections int                   `json:"new_rejections"`
	Errors        []string              `json:"errors"`
	DurationMS    int64                 `json:"duration_ms"`

	IgnoredColumns []models.IgnoredColumn `json:"ignored_columns"`
	SkippedLines   []models.SkippedLine   `json:"skipped_lines,omitempty"`
	Withdrawn      int                    `json:"withdrawn"`
	WithdrawnDraws []models.WithdrawnDraw `json:"withdrawn_draws"`
}

func drawsSync(ctx context.Context, c *call) error {
	only := c.String("feed")
	if only != "" && !slices.Contains(jobs.SyncedFeeds(), only) {
		return models.Errorf(models.CodeInvalid, "%q is not a feed that can be synced; use %s", only, models.OrList(jobs.SyncedFeeds()))
	}
	if c.object = only; only == "" {
		c.object = "all feeds"
	}
	s := jobs.Sync{
		Store: c.store, Feeds: c.cfg.Feeds, Now: c.env.Now, Log: slog.New(slog.DiscardHandler),
		Fetcher: feed.NewFetcher(feed.FetchOptions{Contact: c.cfg.PublicURL.String(), AllowPrivate: c.cfg.Feeds.AllowPrivate}),
	}
	found, err := s.Run(ctx, jobs.SyncOptions{
		Feed: only, AcceptShrink: c.Bool("accept-shrink"), AcceptCorrections: c.Bool("accept-corrections"), Whole: c.Bool("whole"),
	})
	if err != nil && len(found) == 0 {
		return err
	}
	list := make([]synced, 0, len(found))
	var faults []string
	rejected, draws, news := 0, 0, 0
	for i := range found {
		f := &found[i]
		line := syncedOf(f)
		for _, fault := range f.Errs {
			line.Errors = append(line.Errors, explain(ctx, fault))
			faults = append(faults, f.Feed+": "+fault.Error())
		}
		for i := range f.News {
			c.sayRejection(&f.News[i])
		}
		c.warnIgnored(f.Feed, f.Summary.IgnoredColumns)
		c.warnSkipped(f.Feed, f.Summary.SkippedLines)
		c.warnWithdrawn(f.Feed, &f.Summary)
		rejected, draws, news = rejected+f.Summary.Rejected, draws+f.Summary.Draws, news+len(f.News)
		list = append(list, line)
	}
	switch {
	case err != nil:
		return errors.Join(err, c.result(list))
	case len(faults) > 0:
		err = errors.New(strings.Join(faults, "\nlotteryadmin: "))
	case rejected > 0:
		err = rejectedError{fmt.Sprintf("%d of %d draws rejected, %d of them for the first time", rejected, draws, news)}
	}
	return c.finish(list, err)
}

func syncedOf(f *jobs.FeedSynced) synced {
	s := &f.Summary
	return synced{
		Feed: f.Feed, Addresses: f.Addresses, NotModified: f.NotModified, Lines: s.Lines, Draws: s.Draws, Inserted: s.Inserted,
		Unchanged: s.Unchanged, Corrected: s.Corrected, Duplicate: s.Duplicate, Overruled: s.Overruled, Rejected: s.Rejected,
		Skipped: s.Skipped, Rejections: s.Rejections, NewRejections: len(f.News), Errors: []string{}, DurationMS: s.DurationMS,
		IgnoredColumns: append([]models.IgnoredColumn{}, s.IgnoredColumns...),
		SkippedLines:   s.SkippedLines,
		Withdrawn:      s.Withdrawn,
		WithdrawnDraws: append([]models.WithdrawnDraw{}, s.WithdrawnDraws...),
	}
}
