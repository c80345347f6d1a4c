package jobs

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"lottery/jobs/feed"
	"lottery/models"
)

// syncJob fetches the feeds, at the times in feeds_sync.
func syncJob(d *Deps) Job {
	j := Job{
		Name: "sync", What: "import what the lotteries publish", When: d.Feeds.Sync, ByHand: true, Limit: 30 * time.Minute,
		Run: func(ctx context.Context) (string, error) {
			s := Sync{
				Store: d.Store, Feeds: d.Feeds, Now: d.Now, Log: d.Log,
				Fetcher: feed.NewFetcher(feed.FetchOptions{Contact: d.Contact, AllowPrivate: d.Feeds.AllowPrivate, Through: d.Through}),
			}
			list, err := s.Run(ctx, SyncOptions{})
			outcome, failed := told(list)
			return outcome, errors.Join(failed, err)
		},
	}
	if j.When == "" {
		j.Off = "feeds_sync is off here"
	}
	return j
}

// told summarizes a sync in one line. failed names the feeds that could not be synced; their errors are in the log and
// in `feeds status`.
func told(list []FeedSynced) (outcome string, failed error) {
	var inserted, corrected, news, ignored, skipped, withdrawn int
	var names []string
	for i := range list {
		f := &list[i]
		inserted += f.Summary.Inserted
		corrected += f.Summary.Corrected
		news += len(f.News)
		ignored += len(f.Summary.IgnoredColumns)
		skipped += len(f.Summary.SkippedLines)
		withdrawn += f.Summary.Withdrawn
		if len(f.Errs) > 0 {
			names = append(names, f.Feed)
		}
	}
	outcome = fmt.Sprintf("%s, %d corrected, %d newly rejected", models.Count(inserted, "new draw"), corrected, news)
	if ignored > 0 {
		outcome += ", " + models.Count(ignored, "column") + " not read"
	}
	if skipped > 0 {
		outcome += ", " + models.Count(skipped, "doubtful line") + " skipped"
	}
	if withdrawn > 0 {
		outcome += ", " + models.Count(withdrawn, "draw") + " withdrawn"
	}
	if len(names) > 0 {
		failed = fmt.Errorf("not synced: %s; `lotteryadmin feeds status` says why", strings.Join(names, ", "))
	}
	return outcome, failed
}
