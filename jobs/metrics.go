package jobs

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"lottery/models"
)

// Metrics counts the runs of jobs. A nil one counts nothing.
type Metrics struct {
	runs     *prometheus.CounterVec
	duration *prometheus.HistogramVec
	success  *prometheus.GaugeVec
	failures *prometheus.GaugeVec
}

// The results of a run.
const (
	resultDone   = "done"
	resultFailed = "failed"
	resultCutOff = "cut_off"
)

// NewMetrics makes the metrics of the jobs in list; Register exports them.
func NewMetrics(list []Job) *Metrics {
	m := &Metrics{
		runs: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "lottery_job_runs_total", Help: "Runs of a job on this node, by result; cut_off: the node stopped, or took over from one that was killed.",
		}, []string{"job", "result"}),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "lottery_job_duration_seconds", Help: "How long runs of a job took on this node.",
			Buckets: []float64{.01, .1, 1, 10, 60, 300, 1800, 7200},
		}, []string{"job"}),
		success: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "lottery_job_last_success_timestamp_seconds", Help: "When a job last succeeded, on any node; absent if it never did, or is off.",
		}, []string{"job"}),
		failures: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "lottery_job_consecutive_failures", Help: "How often in a row a job failed or was cut off, on any node; absent if it is off.",
		}, []string{"job"}),
	}
	for i := range list {
		if list[i].When == "" {
			continue
		}
		for _, result := range []string{resultDone, resultFailed, resultCutOff} {
			m.runs.WithLabelValues(list[i].Name, result)
		}
		m.duration.WithLabelValues(list[i].Name)
		m.failures.WithLabelValues(list[i].Name)
	}
	return m
}

// Register adds the metrics to r.
func (m *Metrics) Register(r prometheus.Registerer) {
	r.MustRegister(m.runs, m.duration, m.success, m.failures)
}

func (m *Metrics) ran(job string, took time.Duration, err error) {
	if m == nil {
		return
	}
	result := resultDone
	if err != nil {
		result = resultFailed
	}
	m.runs.WithLabelValues(job, result).Inc()
	m.duration.WithLabelValues(job).Observe(took.Seconds())
}

func (m *Metrics) cutOff(job string) {
	if m != nil {
		m.runs.WithLabelValues(job, resultCutOff).Inc()
	}
}

// seen records the last run of a job that this node schedules, whichever node ran it.
func (m *Metrics) seen(run *models.JobRun) {
	if m == nil {
		return
	}
	m.failures.WithLabelValues(run.Job).Set(float64(run.Failures))
	if run.SucceededAt != nil {
		m.success.WithLabelValues(run.Job).Set(seconds(*run.SucceededAt))
	}
}
