package middleware

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"lottery/models"
)

// Traffic counts requests by route, status and plan. Labels never contain accounts, keys, addresses or a client's path:
// an unknown path is the route "other". Counting a request takes a few hundred nanoseconds and no allocation, since the
// counters of a route are looked up only once.
type Traffic struct {
	requests *prometheus.CounterVec
	duration *prometheus.HistogramVec
	routes   map[string]*routeTraffic
	other    *routeTraffic
	log      AccessLog
	trace    Tracer // nil = no tracing
}

// OtherRoute is the label of requests whose path is unknown.
const OtherRoute = "other"

// planNone is the label of requests without a valid key.
const planNone = "none"

// plans has the values of the plan label; a record holds an index.
var plans = [...]string{planNone, string(models.PlanFree), string(models.PlanPro)}

func planIndex(p models.Plan) int {
	for i, name := range plans {
		if name == string(p) {
			return i
		}
	}
	return 0
}

// statuses is the number of HTTP status codes counted, from 100 up.
const statuses = 500

// routeTraffic has the counters of one route. The counter of a status and plan is made for its first answer.
type routeTraffic struct {
	name     string
	duration prometheus.Observer
	requests [len(plans)][statuses]atomic.Pointer[prometheus.Counter]
}

// NewTraffic makes the counters; Register exposes them. A zero log or trace is not used.
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

// Know creates the counters of a route template, under the given label. Call it before serving; on a nil
// Traffic it does nothing.
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

// route returns the counters of a route template, or those of other paths if Know was not told of it.
func (t *Traffic) route(name string) *routeTraffic {
	if r, ok := t.routes[name]; ok {
		return r
	}
	return t.other
}

// statusLeft is counted for a request whose client left before it could be answered. It is never sent; log readers know
// the number from nginx ("client closed request").
const statusLeft = 499

// counted returns the status that a request counts under, given the status of its answer. Unavailable is what handlers
// make of a query that was canceled because the client left: that is no failure of ours.
func counted(r *http.Request, status int) int {
	if status == http.StatusServiceUnavailable && errors.Is(r.Context().Err(), context.Canceled) {
		return statusLeft
	}
	return status
}

// count counts one answer.
func (t *Traffic) count(r *routeTraffic, plan, status int, took time.Duration) {
	if status < 100 || status >= 100+statuses {
		status = http.StatusInternalServerError
	}
	slot := &r.requests[plan][status-100]
	counter := slot.Load()
	if counter == nil { // concurrent callers get the same counter from the vector
		made := t.requests.WithLabelValues(r.name, strconv.Itoa(status), plans[plan])
		counter = &made
		slot.Store(counter)
	}
	(*counter).Inc()
	r.duration.Observe(took.Seconds())
}
