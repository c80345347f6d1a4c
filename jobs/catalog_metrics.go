package jobs

import (
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"lottery/models/catalog"
)

// CatalogMetrics exports metrics about the index of draws that a node serves from. A nil one exports nothing.
type CatalogMetrics struct {
	live     *catalog.Live
	loadedAt atomic.Int64 // Unix nanoseconds
	took     atomic.Int64 // nanoseconds
	failures prometheus.Counter
}

// NewCatalogMetrics makes the metrics of the index in live.
func NewCatalogMetrics(live *catalog.Live) *CatalogMetrics {
	return &CatalogMetrics{live: live, failures: prometheus.NewCounter(prometheus.CounterOpts{
		Name: "lottery_catalog_refresh_errors_total", Help: "How often the draws could not be checked for changes or loaded.",
	})}
}

var (
	catalogDraws = prometheus.NewDesc("lottery_catalog_draws", "Draws in the index.", nil, nil)
	catalogGames = prometheus.NewDesc("lottery_catalog_games", "Games in the index.", nil, nil)
	catalogVers  = prometheus.NewDesc("lottery_catalog_data_version", "Number of the data version that is being served; it grows with every change.", nil, nil)
	catalogData  = prometheus.NewDesc("lottery_catalog_updated_timestamp_seconds", "When the draws being served last changed.", nil, nil)
	catalogLoad  = prometheus.NewDesc("lottery_catalog_loaded_timestamp_seconds", "When this node built its index.", nil, nil)
	catalogBuild = prometheus.NewDesc("lottery_catalog_build_seconds", "How long the newest index took to build.", nil, nil)
)

// Describe implements prometheus.Collector.
func (m *CatalogMetrics) Describe(ch chan<- *prometheus.Desc) { prometheus.DescribeByCollect(m, ch) }

// Collect implements prometheus.Collector. Until the first index is loaded it exports only the failures.
func (m *CatalogMetrics) Collect(ch chan<- prometheus.Metric) {
	ch <- m.failures
	cat := m.live.Load()
	if cat == nil {
		return
	}
	gauge := func(d *prometheus.Desc, v float64) { ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v) }
	gauge(catalogDraws, float64(cat.TotalDraws()))
	gauge(catalogGames, float64(len(cat.Games())))
	gauge(catalogVers, float64(cat.Version().Number))
	gauge(catalogData, seconds(cat.Version().UpdatedAt))
	gauge(catalogLoad, float64(m.loadedAt.Load())/1e9)
	gauge(catalogBuild, time.Duration(m.took.Load()).Seconds())
}

func (m *CatalogMetrics) loaded(took time.Duration) {
	if m != nil {
		m.loadedAt.Store(time.Now().UnixNano())
		m.took.Store(int64(took))
	}
}

func (m *CatalogMetrics) failed() {
	if m != nil {
		m.failures.Inc()
	}
}

// seconds returns t as Prometheus writes times: Unix seconds.
func seconds(t time.Time) float64 { return float64(t.UnixMicro()) / 1e6 }
