package admin

import (
	"context"
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"lottery/jobs"
	"lottery/models"
)

func (t *tool) feeds() *cli.Command {
	return &cli.Command{Name: "feeds", Usage: "the lotteries' feeds, and how fresh they are", Subcommands: []*cli.Command{
		{
			Name: "status", Usage: "show when feeds were fetched, what went wrong, and how new their draws are",
			Description: "newest_draw: the newest draw of each game and time of day of the feed, and of these the oldest.\n" +
				"expected_draw: the day that should be stored by now. behind: the games, or their times of day, that\n" +
				"have not got that far. `draws verify` shows what is missing. URLs that are no longer configured are\n" +
				"left out.\n\nExample:\n  lotteryadmin feeds status",
			Action: t.stored(feedsStatus),
		},
	}}
}

// feedStatus is the state of one feed.
type feedStatus struct {
	Feed         string  `json:"feed"`
	Fresh        bool    `json:"fresh"`
	NewestDraw   *string `json:"newest_draw"`
	ExpectedDraw *string `json:"expected_draw"`
	Behind       *string `json:"behind"` // the games, or times of day of games, that are
	LastChecked  *string `json:"last_checked"`
	LastSuccess  *string `json:"last_success"` // the last success of the URL that succeeded longest ago
	LastError    *string `json:"last_error"`   // names the URL that failed, and how many others did
	Rejected     int     `json:"rejected"`     // published draws that were not accepted
}

func feedsStatus(ctx context.Context, c *call) error {
	fresh, err := jobs.GameFreshness(ctx, c.store, c.env.Now())
	if err != nil {
		return err
	}
	sources, err := jobs.FeedSources(ctx, c.store, &c.cfg.Feeds)
	if err != nil {
		return err
	}
	list := make([]feedStatus, 0, 4)
	for _, name := range jobs.SyncedFeeds() {
		list = append(list, feedStatusOf(name, fresh, sources))
	}
	return c.result(list)
}

func feedStatusOf(name string, fresh []jobs.Freshness, sources []models.FeedSource) feedStatus {
	out := feedStatus{Feed: name, Fresh: true}
	out.drawn(fresh)
	out.fetched(sources)
	return out
}

// drawn fills in how recent the draws of the feed's games are.
func (out *feedStatus) drawn(fresh []jobs.Freshness) {
	var newest *models.Date
	empty := false
	var behind []string
	for _, f := range fresh {
		if f.Feed != out.Feed {
			continue
		}
		if out.Fresh = out.Fresh && f.Fresh; !f.Fresh {
			behind = append(behind, behindOf(&f))
		}
		if f.Newest == nil {
			empty = true
		} else if newest == nil || *f.Newest < *newest {
			newest = f.Newest
		}
		if f.Expected != nil {
			out.ExpectedDraw = new(f.Expected.String())
		}
	}
	if newest != nil && !empty {
		out.NewestDraw = new(newest.String())
	}
	if len(behind) > 0 {
		out.Behind = new(strings.Join(behind, ", "))
	}
}

// fetched fills in when the feed's URLs were fetched, and what went wrong.
func (out *feedStatus) fetched(sources []models.FeedSource) {
	var failed []*models.FeedSource
	for i := range sources {
		src := &sources[i]
		if src.Feed != out.Feed {
			continue
		}
		out.Rejected += len(src.Rejected)
		if at := stampOf(src.CheckedAt); at != nil && (out.LastChecked == nil || *at > *out.LastChecked) {
			out.LastChecked = at
		}
		if at := stampOf(src.SucceededAt); at != nil && (out.LastSuccess == nil || *at < *out.LastSuccess) {
			out.LastSuccess = at
		}
		if src.Error != "" {
			failed = append(failed, src)
		}
	}
	out.LastError = errorsOf(failed)
}

// behindOf names a game that lacks draws, with the times of day that lack them: a lottery may publish each in a file of
// its own. If all of them do, it gives only the game's name.
func behindOf(f *jobs.Freshness) string {
	if f.Behind == f.Due {
		return f.Game
	}
	return f.Game + " " + f.Behind.String()
}

// errorsOf returns what the operator reads about the URLs that failed: the first one's error, and how many others there
// are.
func errorsOf(failed []*models.FeedSource) *string {
	if len(failed) == 0 {
		return nil
	}
	text := failed[0].Address + ": " + failed[0].Error
	if others := len(failed) - 1; others > 0 {
		text += fmt.Sprintf("; %d of its other URLs failed too", others)
	}
	return &text
}
