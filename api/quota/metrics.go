package quota

import "github.com/prometheus/client_golang/prometheus"

// Metrics counts the gate's decisions. Accounts are never labels.
type Metrics struct {
	admitted, refused, withoutBackend, errors prometheus.Counter
	away                                      prometheus.Gauge
}

// NewMetrics makes the metrics; Register exposes them.
func NewMetrics() *Metrics {
	decision := func(name string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{
			Name: "lottery_quota_decisions_total", Help: "Requests by what the quota decided.", ConstLabels: prometheus.Labels{"decision": name},
		})
	}
	return &Metrics{
		admitted: decision("admitted"), refused: decision("refused"), withoutBackend: decision("admitted_without_store"),
		errors: prometheus.NewCounter(prometheus.CounterOpts{Name: "lottery_quota_store_errors_total", Help: "Failed contacts with the counter store."}),
		away:   prometheus.NewGauge(prometheus.GaugeOpts{Name: "lottery_quota_store_away", Help: "1 while the counter store does not answer and requests are admitted from memory."}),
	}
}

// Register adds the metrics to r.
func (m *Metrics) Register(r prometheus.Registerer) {
	r.MustRegister(m.admitted, m.refused, m.withoutBackend, m.errors, m.away)
}
