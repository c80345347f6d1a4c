package web

import (
	"context"
	"net/http"
	"time"

	"lottery/models"
)

// statusView is the data of the status page: what is running, and how fresh the draws are.
type statusView struct {
	Build   models.Build
	Version models.DataVersion
	Loaded  bool
	Games   []*gameView
	Feeds   []models.ImportRun // the last one of each feed
	Known   bool               // whether Feeds could be read
	Totals  totals
	Now     time.Time
}

// status shows the page as of when the feeds were read last, so that it is made only as often as they are.
func (h *Handler) status(w http.ResponseWriter, r *http.Request) error {
	feeds, at := h.feedTimes(r.Context())
	data := statusView{Build: h.deps.Build, Now: at.UTC(), Feeds: feeds.runs, Known: feeds.known}
	m := h.remember()
	if m != nil {
		data.Version, data.Loaded, data.Games, data.Totals = m.cat.Version(), true, m.games, m.totals
	}
	h.show(w, r, view{
		Page: "status", Title: "Status", Description: "Which version is running, and how fresh the draws of each game are.",
		Kept: m.kept("status"), KeptOf: at, Data: data,
	})
	return nil
}

// feedTimes are the last imports of all feeds; known is false if the database did not say, and these were read before.
type feedTimes struct {
	runs  []models.ImportRun
	known bool
}

// feedTimes returns them, as read at the given time: finding them takes longer the more imports are on record.
func (h *Handler) feedTimes(ctx context.Context) (times feedTimes, at time.Time) {
	return h.feeds.get(h.deps.Now, func(before feedTimes) feedTimes {
		ctx, cancel := glance(context.WithoutCancel(ctx)) // others may wait for it, too
		defer cancel()
		runs, err := h.deps.Store.NewestImports(ctx)
		if err != nil {
			h.deps.Log.WarnContext(ctx, "the last imports cannot be read now; the status page shows those read before, if any", "error", err)
			return feedTimes{before.runs, false}
		}
		return feedTimes{runs, true}
	})
}
