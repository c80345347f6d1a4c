package middleware

import (
	"net/http"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"lottery/api/problem"
)

// Front stands before everything that is served. It bounds how many requests are handled at once, so that
// excess load is refused immediately (503 unavailable, with Retry-After) instead of piling up in memory.
// /healthz is always answered.
type Front struct {
	next      http.Handler
	publicURL string
	most      int64 // 0 = no limit
	isPage    func(path string) bool
	pressed   func()

	shed       *prometheus.CounterVec
	shedPlaces prometheus.Counter
	shedPages  prometheus.Counter
	shedBodies prometheus.Counter

	_        [cacheLine]byte // keep what every request writes apart from what every request reads
	inFlight atomic.Int64
	_        [cacheLine]byte
	pages    atomic.Int64
	forms    atomic.Int64 // page requests with a body
	bodies   atomic.Int64 // other requests with a body
}

// cacheLine is the unit, in bytes, in which cores share memory.
const cacheLine = 64

const (
	// pageShare is the fraction (1/pageShare) of places that pages may take: they wait for the database, and while it
	// hangs they must not crowd out requests that are answered from memory.
	pageShare = 2
	// bodyShare is the fraction (1/bodyShare) of places that forms, and other requests with a body, may take: a place
	// is held while a slow client sends its body, which must not crowd out requests without one.
	bodyShare = 4
)

// shedRetry is the Retry-After of a refused request.
const shedRetry = time.Second

// NewFront lets at most that many requests at once through to next (0 = no limit). isPage reports whether a path is a
// page. pressed, if not nil, is called for each refused request.
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
		Name: "lottery_http_requests_in_flight", Help: "Requests being handled now.",
	}, func() float64 { return float64(f.inFlight.Load()) }), prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "lottery_http_requests_in_flight_limit", Help: "Requests that may be in flight at the same time; 0 = no limit.",
	}, func() float64 { return float64(f.most) }))
}

func (f *Front) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/healthz" {
		f.next.ServeHTTP(w, r)
		return
	}
	k := f.kindOf(r)
	if why := f.enter(k); why != nil {
		f.refuse(w, r, why)
		return
	}
	defer f.leave(k)
	f.next.ServeHTTP(w, r)
}

// kind is the counters that a request takes places from, besides inFlight.
type kind struct{ pages, bodies *atomic.Int64 } // nil = not of that kind

func (f *Front) kindOf(r *http.Request) (k kind) {
	page := f.isPage(r.URL.Path)
	if page {
		k.pages = &f.pages
	}
	switch {
	case r.ContentLength == 0:
	case page:
		k.bodies = &f.forms
	default:
		k.bodies = &f.bodies
	}
	return k
}

// enter takes all places that a request needs, or none: then it returns the counter of the refusal.
func (f *Front) enter(k kind) (refused prometheus.Counter) {
	switch {
	case !f.take(&f.inFlight, 1):
		return f.shedPlaces
	case !f.take(k.pages, pageShare):
		f.inFlight.Add(-1)
		return f.shedPages
	case !f.take(k.bodies, bodyShare):
		f.leave(kind{pages: k.pages})
		return f.shedBodies
	default:
		return nil
	}
}

// take takes one of the places, of which there are 1/part of all, if one is free.
func (f *Front) take(places *atomic.Int64, part int64) bool {
	if places == nil {
		return true
	}
	if n := places.Add(1); n > max(1, f.most/part) && f.most > 0 {
		places.Add(-1)
		return false
	}
	return true
}

func (f *Front) leave(k kind) {
	f.inFlight.Add(-1)
	for _, places := range [...]*atomic.Int64{k.pages, k.bodies} {
		if places != nil {
			places.Add(-1)
		}
	}
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
		h.Set("Connection", "close") // the body is not read
	}
	(&problem.Problem{
		Code: problem.Unavailable, Detail: "the server is handling too many requests; this one was not counted, try again in a moment", RetryAfter: shedRetry,
	}).Write(w, f.publicURL, id[0])
}
