package middleware

import (
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"lottery/models"
)

// Traffic counts requests, by route, status and plan. No account, key, address or path of a client is a label: a path
// that does not exist is the route "other". A request costs a few hundred nanoseconds and no allocation, since
// the counters of a route are found once.
type Traffic struct {
	requests *prometheus.CounterVec
	duration *prometheus.HistogramVec
	routes   map[string]*routeTraffic
	other    *routeTraffic
	log      AccessLog
	trace    Tracer // nil = nobody
}

// OtherRoute is the label of requests whose path does not exist.
const OtherRoute = "other"

// planNone is the label of requests without a valid key.
const planNone = "none"

// plans is the label's values; a record holds an index.
var plans = [...]string{planNone, string(models.PlanFree), string(models.PlanPro)}

func planIndex(p models.Plan) int {
	for i, name := range plans {
		if name == string(p) {
			return i
		}
	}
	return 0
}

// statuses is how many codes of HTTP there may be, from 100 on.
const statuses = 500

// routeTraffic is the counters of one route. Those of a status and plan are made when the first such answer is given.
type routeTraffic struct {
	name     string
	duration prometheus.Observer
	requests [len(plans)][statuses]atomic.Pointer[prometheus.Counter]
}

// NewTraffic makes the counters; Register shows them. What is not needed of log and trace is left zero.
func NewTraffic(log AccessLog, trace Tracer) *Traffic {
	t := &Traffic{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "lottery_http_requests_total", Help: "Answered requests by route template, status and plan of the key (none: without a valid key).",
		}, []string{"route", "code", "plan"}),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "lottery_http_request_duration_seconds", Help: "Time from a request's headers to its handler's end, by route template.",
			Buckets: []float64{.0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30},
		}, []string{"route"}),
		routes: map[string]*routeTraffic{}, log: log, trace: trace,
	}
	t.other = t.newRoute(OtherRoute)
	return t
}

// Know makes the counters of a route, by its template, under a label. Routes are known before anything is served; a nil
// Traffic knows none.
func (t *Traffic) Know(template, label string) {
	if t != nil && t.routes[template] == nil {
		t.routes[template] = t.newRoute(label)
	}
}

func (t *Traffic) newRoute(name string) *routeTraffic {
	return &routeTraffic{name: name, duration: t.duration.WithLabelValues(name)}
}

// Register adds the metrics to r.
func (t *Traffic) Register(r prometheus.Registerer) { r.MustRegister(t.requests, t.duration) }

// route is the counters of a route template; those of other paths if it is not one that was named.
func (t *Traffic) route(name string) *routeTraffic {
	if r, ok := t.routes[name]; ok {
		return r
	}
	return t.other
}

// count notes one answer.
func (t *Traffic) count(r *routeTraffic, plan, status int, took time.Duration) {
	if status < 100 || status >= 100+statuses {
		status = http.StatusInternalServerError
	}
	slot := &r.requests[plan][status-100]
	counter := slot.Load()
	if counter == nil { // the vector gives the same one to all who ask at once
		made := t.requests.WithLabelValues(r.name, strconv.Itoa(status), plans[plan])
		counter = &made
		slot.Store(counter)
	}
	(*counter).Inc()
	r.duration.Observe(took.Seconds())
}
