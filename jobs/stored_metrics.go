package jobs

import (
	"context"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"lottery/configs"
	"lottery/models"
	"lottery/models/catalog"
	"lottery/models/store"
)

const (
	// storedEvery is how often the database is read for metrics at most, however often they are scraped.
	storedEvery = 15 * time.Second
	// storedTimeout bounds that reading: a database that hangs must not hang the scrape, which Prometheus gives up
	// after 10 s by default. A dozen reads of a distant one, 300 ms away, fit.
	storedTimeout = 5 * time.Second
)

// StoredMetrics exports what the database knows about feeds, webhooks and mails. While the database is away,
// lottery_database_up is 0 and these metrics are left out: old numbers would mislead alerts.
type StoredMetrics struct {
	store *store.Store
	live  *catalog.Live
	cfg   configs.Feeds
	now   func() time.Time

	mu   sync.Mutex
	read time.Time // when the database was last asked
	list []prometheus.Metric
}

// NewStoredMetrics makes metrics that read st; the games' newest draws come from live, the feeds' URLs from cfg.
func NewStoredMetrics(st *store.Store, live *catalog.Live, cfg configs.Feeds, now func() time.Time) *StoredMetrics {
	return &StoredMetrics{store: st, live: live, cfg: cfg, now: now}
}

var (
	storedUp      = prometheus.NewDesc("lottery_database_up", "1 if the database answered when it was asked for these numbers (at most every 15 seconds).", nil, nil)
	storedVersion = prometheus.NewDesc("lottery_database_data_version", "Number of the newest data version in the database.", nil, nil)
	feedSuccess   = prometheus.NewDesc("lottery_feed_last_success_timestamp_seconds", "When a URL of the feed was last fetched and imported, or found unchanged; absent if it never was.", []string{"feed"}, nil)
	feedChecked   = prometheus.NewDesc("lottery_feed_last_check_timestamp_seconds", "When a URL of the feed was last tried.", []string{"feed"}, nil)
	feedFailing   = prometheus.NewDesc("lottery_feed_failing_addresses", "URLs of the feed whose last attempt failed.", []string{"feed"}, nil)
	gameNewest    = prometheus.NewDesc("lottery_game_newest_draw_timestamp_seconds", "Date of the newest draw of a game that is fetched.", []string{"feed", "game"}, nil)
	gameOverdue   = prometheus.NewDesc("lottery_game_overdue", "1 if a draw of some time of day should have been published but is missing. Games without any draws are left out.", []string{"feed", "game"}, nil)
	inboxWaiting  = prometheus.NewDesc("lottery_webhook_inbox_waiting", "Stripe events waiting to be processed.", nil, nil)
	inboxOldest   = prometheus.NewDesc("lottery_webhook_inbox_oldest_seconds", "How long the oldest of them has waited, since it arrived or was retried by hand; 0 = none is waiting.", nil, nil)
	inboxDead     = prometheus.NewDesc("lottery_webhook_inbox_dead", "Stripe events that failed too often and need an operator.", nil, nil)
	outboxWaiting = prometheus.NewDesc("lottery_outbox_waiting", "Emails waiting to be sent.", nil, nil)
	outboxOldest  = prometheus.NewDesc("lottery_outbox_oldest_seconds", "How long the oldest of them has waited; 0 = none is waiting.", nil, nil)
	outboxDead    = prometheus.NewDesc("lottery_outbox_dead", "Emails that could not be sent and will not be retried.", nil, nil)
)

// Describe implements prometheus.Collector. It names one metric; which others exist depends on the database.
func (m *StoredMetrics) Describe(ch chan<- *prometheus.Desc) { ch <- storedUp }

// Collect implements prometheus.Collector. It never fails.
func (m *StoredMetrics) Collect(ch chan<- prometheus.Metric) {
	for _, metric := range m.current() {
		ch <- metric
	}
}

func (m *StoredMetrics) current() []prometheus.Metric {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.now()
	if age := now.Sub(m.read); m.list != nil && age >= 0 && age < storedEvery {
		return m.list
	}
	m.read = now
	ctx, cancel := context.WithTimeout(context.Background(), storedTimeout)
	defer cancel()
	r := &stored{now: now}
	if err := m.ask(ctx, r); err != nil {
		r.list = nil
		r.gauge(storedUp, 0)
	} else {
		r.gauge(storedUp, 1)
	}
	m.list = r.list
	return m.list
}

// stored is one reading.
type stored struct {
	now  time.Time
	list []prometheus.Metric
}

func (r *stored) gauge(d *prometheus.Desc, v float64, labels ...string) {
	r.list = append(r.list, prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...))
}

func (m *StoredMetrics) ask(ctx context.Context, r *stored) error {
	v, err := m.store.DataVersion(ctx)
	if err != nil {
		return err
	}
	if cat := m.live.Load(); cat != nil && cat.Version().Token == v.Token {
		// An operator has only confirmed a draw since; what is served is the same.
		v.Number = cat.Version().Number
	}
	r.gauge(storedVersion, float64(v.Number))
	sources, err := FeedSources(ctx, m.store, &m.cfg)
	if err != nil {
		return err
	}
	r.feeds(sources)
	games, err := m.store.Games(ctx)
	if err != nil {
		return err
	}
	r.games(games, m.live.Load())
	inbox, err := m.store.InboxState(ctx)
	if err != nil {
		return err
	}
	r.queue(inbox, inboxWaiting, inboxOldest, inboxDead)
	outbox, err := m.store.OutboxState(ctx)
	if err != nil {
		return err
	}
	r.queue(outbox, outboxWaiting, outboxOldest, outboxDead)
	return nil
}

func (r *stored) queue(q store.QueueState, waiting, oldest, dead *prometheus.Desc) {
	r.gauge(waiting, float64(q.Waiting))
	age := time.Duration(0)
	if q.Waiting > 0 {
		age = max(0, r.now.Sub(q.Oldest))
	}
	r.gauge(oldest, age.Seconds())
	r.gauge(dead, float64(q.Dead))
}

// feeds adds the metrics of each feed, from what is stored about its URLs.
func (r *stored) feeds(sources []models.FeedSource) {
	type feed struct {
		success, checked time.Time
		failing          int
	}
	known := map[string]*feed{}
	for i := range sources {
		src := &sources[i]
		f := known[src.Feed]
		if f == nil {
			f = &feed{}
			known[src.Feed] = f
		}
		if src.SucceededAt != nil && src.SucceededAt.After(f.success) {
			f.success = *src.SucceededAt
		}
		if src.CheckedAt != nil && src.CheckedAt.After(f.checked) {
			f.checked = *src.CheckedAt
		}
		if src.Error != "" {
			f.failing++
		}
	}
	for name, f := range known {
		if !f.success.IsZero() {
			r.gauge(feedSuccess, seconds(f.success), name)
		}
		if !f.checked.IsZero() {
			r.gauge(feedChecked, seconds(f.checked), name)
		}
		r.gauge(feedFailing, float64(f.failing), name)
	}
}

// games adds how recent the draws of the fetched games are.
func (r *stored) games(games []models.Game, cat *catalog.Catalog) {
	if cat == nil {
		return
	}
	newest := map[string]map[models.Tod]models.Date{}
	for _, g := range cat.Games() {
		newest[g.ID] = map[models.Tod]models.Date{}
		for _, draw := range g.Latest() {
			newest[g.ID][draw.Tod()] = draw.Date()
		}
	}
	for _, f := range freshness(games, r.now, newest) {
		g, ok := cat.Game(f.Game)
		if !ok {
			continue
		}
		r.gauge(gameNewest, seconds(g.Last().Time()), f.Feed, f.Game)
		overdue := 0.0
		if !f.Fresh {
			overdue = 1
		}
		r.gauge(gameOverdue, overdue, f.Feed, f.Game)
	}
}
