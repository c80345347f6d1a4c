package web

import (
	"context"
	"net/http"
	"sync"
	"time"

	"lottery/models"
)

// statusView is the data of the status page: what is running, and how fresh the draws are.
type statusView struct {
	Build   models.Build
	Version models.DataVersion
	Loaded  bool
	Games   []*gameView
	Feeds   []feedStatus
	Known   bool // whether Feeds could be read
	Totals  totals
	Now     time.Time
}

// feedStatus is the time of a feed's last import.
type feedStatus struct {
	Feed string
	At   time.Time
}

// status shows the page as of when the feeds were read last, so that it is made at most once for each of feedsFor.
func (h *Handler) status(w http.ResponseWriter, r *http.Request) error {
	feeds, known, at := h.feedTimes(r.Context())
	data := statusView{Build: h.deps.Build, Now: at.UTC(), Feeds: feeds, Known: known}
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

// feedTimes caches when each feed was last imported.
type feedTimes struct {
	reading sync.Mutex // held while reading the rest
	at      time.Time
	list    []feedStatus
	known   bool
}

// feedsFor is how long the times of the feeds are kept: finding them takes longer the more imports are on record.
const feedsFor = time.Second

// feedTimes returns when each feed was last imported, as read at the given time; known is false while the database is
// down.
func (h *Handler) feedTimes(ctx context.Context) (list []feedStatus, known bool, at time.Time) {
	f := &h.feeds
	f.reading.Lock()
	defer f.reading.Unlock()
	if !f.at.IsZero() && h.deps.Now().Sub(f.at) < feedsFor {
		return f.list, f.known, f.at
	}
	ctx, cancel := glance(context.WithoutCancel(ctx)) // others wait for it, too
	defer cancel()
	runs, err := h.deps.Store.NewestImports(ctx)
	f.at, f.list, f.known = h.deps.Now(), nil, err == nil
	for _, run := range runs {
		f.list = append(f.list, feedStatus{run.Feed, run.FinishedAt})
	}
	return f.list, f.known, f.at
}
