package middleware

import (
	"net/http"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"lottery/api/problem"
)

// Front stands before everything that is served. It bounds how many requests are worked on at once, so that more than
// the machine can do is refused at once instead of piling up in memory: 503 unavailable, with Retry-After. /healthz
// is always answered.
type Front struct {
	next      http.Handler
	publicURL string
	most      int64 // 0 = as many as come
	isPage    func(path string) bool
	pressed   func()

	shed       *prometheus.CounterVec
	shedPlaces prometheus.Counter
	shedPages  prometheus.Counter
	shedBodies prometheus.Counter

	_        [cacheLine]byte // what every request changes stands apart from what every request reads
	inFlight atomic.Int64
	_        [cacheLine]byte
	pages    atomic.Int64
	forms    atomic.Int64 // pages that are sent a body
	bodies   atomic.Int64 // others that are
}

// cacheLine is what cores share memory by.
const cacheLine = 64

const (
	// pageShare is the part of all places that pages may take: they wait for the database, and while it says nothing they
	// must not keep those away that are answered from memory.
	pageShare = 2
	// bodyShare is the part of all places that forms, and that others with a body, may take: who sends one slowly waits in
	// it, and must not keep those away that only ask.
	bodyShare = 4
)

// shedRetry is what a client that is refused is told to wait.
const shedRetry = time.Second

// NewFront lets most requests at once pass to next (0 = as many as come). isPage tells which paths are pages. pressed is
// called, often, while some are refused; nil = nobody is told.
func NewFront(next http.Handler, most int, publicURL string, isPage func(path string) bool, pressed func()) *Front {
	f := &Front{next: next, publicURL: publicURL, most: int64(most), isPage: isPage, pressed: pressed}
	f.shed = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "lottery_http_requests_shed_total", Help: "Requests refused with 503 because too many were in flight (places), too many pages (pages), or too many with a body (bodies).",
	}, []string{"reason"})
	f.shedPlaces, f.shedPages, f.shedBodies = f.shed.WithLabelValues("places"), f.shed.WithLabelValues("pages"), f.shed.WithLabelValues("bodies")
	return f
}

// Register adds the metrics to r.
func (f *Front) Register(r prometheus.Registerer) {
	r.MustRegister(f.shed, prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "lottery_http_requests_in_flight", Help: "Requests being answered now.",
	}, func() float64 { return float64(f.inFlight.Load()) }), prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "lottery_http_requests_in_flight_limit", Help: "Requests that may be answered at once; 0 = as many as come.",
	}, func() float64 { return float64(f.most) }))
}

func (f *Front) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/healthz" {
		f.next.ServeHTTP(w, r)
		return
	}
	if n := f.inFlight.Add(1); n > f.most && f.most > 0 {
		f.inFlight.Add(-1) // it takes no place while it is told so
		f.refuse(w, r, f.shedPlaces)
		return
	}
	defer f.inFlight.Add(-1)
	bodies := &f.bodies
	if f.isPage(r.URL.Path) {
		if !f.enter(&f.pages, pageShare) {
			f.refuse(w, r, f.shedPages)
			return
		}
		defer f.pages.Add(-1)
		bodies = &f.forms
	}
	if r.ContentLength != 0 {
		if !f.enter(bodies, bodyShare) {
			f.refuse(w, r, f.shedBodies)
			return
		}
		defer bodies.Add(-1)
	}
	f.next.ServeHTTP(w, r)
}

// enter takes one of the places of a kind, which may have a part of all, if there is one.
func (f *Front) enter(kind *atomic.Int64, part int64) bool {
	if n := kind.Add(1); n > max(1, f.most/part) && f.most > 0 {
		kind.Add(-1)
		return false
	}
	return true
}

func (f *Front) refuse(w http.ResponseWriter, r *http.Request, why prometheus.Counter) {
	why.Inc()
	if f.pressed != nil {
		f.pressed()
	}
	h := w.Header()
	id := idOf(r)
	h[requestID] = id
	allowOrigin(h, r)
	if r.ContentLength != 0 {
		h.Set("Connection", "close") // the body is not waited for
	}
	(&problem.Problem{
		Code: problem.Unavailable, Detail: "the server has more requests than it can answer at once; this one was not counted: try again in a moment", RetryAfter: shedRetry,
	}).Write(w, f.publicURL, id[0])
}
