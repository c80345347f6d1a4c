package quota_test

import (
	"errors"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/gin-gonic/gin"

	"lottery/api/problem"
	"lottery/api/quota"
	"lottery/models"
	"lottery/models/store"
	"lottery/models/store/storetest"
)

// countedRequest holds the arguments of one call of Counted.
type countedRequest struct {
	id          string
	day         models.Date
	limit, used int64
	status      int
}

// gated is handler behind n's gate, for the account "acc", and the requests that the gate reported as counted.
func gated(n *watched, limit int64, handler gin.HandlerFunc) (h http.Handler, counted *[]countedRequest) {
	counted = &[]countedRequest{}
	fail := func(c *gin.Context, err error) {
		if p, ok := errors.AsType[*problem.Problem](err); ok {
			p.Write(c.Writer, "", "")
		}
	}
	gate := &quota.Gate{Store: n.Store, Fail: fail, Counted: func(_ *gin.Context, id string, day models.Date, limit, used int64, status int) {
		*counted = append(*counted, countedRequest{id, day, limit, used, status})
	}}
	gin.SetMode(gin.ReleaseMode)
	engine := gin.New()
	engine.Use(gin.RecoveryWithWriter(io.Discard), func(c *gin.Context) { gate.Handle(c, "acc", limit) })
	engine.GET("/", handler)
	return engine, counted
}

func answer(h http.Handler) *httptest.ResponseRecorder {
	res := httptest.NewRecorder()
	h.ServeHTTP(res, httptest.NewRequest(http.MethodGet, "/", http.NoBody))
	return res
}

// An answer below 500 counts, once per request, and is reported with what is used by then. A request that fails, even
// by a panic, is given back; a refused one reaches no handler.
func TestGateCounts(t *testing.T) {
	t.Parallel()
	c := newTestClock()
	n := watch(t, storetest.OpenURL(t, storetest.URL(t), store.Options{Now: c.now}), quota.Options{Advance: true, Now: c.now})
	status, handled := 0, 0
	h, counted := gated(n, 3, func(c *gin.Context) {
		handled++
		if status == 0 {
			panic("a handler's mistake")
		}
		c.String(status, "answered")
	})
	var want []countedRequest
	for i, s := range []int{0, 500, 200, 503, 0, 304, 500, 499, 200, 200} {
		status = s
		res, used := answer(h), int64(len(want))
		n.Settle()
		switch {
		case used == 3:
			if res.Code != http.StatusTooManyRequests || res.Header().Get("Retry-After") == "" || handled != 8 {
				t.Errorf("request %d: %d %v, %d were handled", i, res.Code, res.Header(), handled)
			}
		case s == 0 || s >= 500:
			if res.Code != max(s, 500) {
				t.Errorf("request %d: %d", i, res.Code)
			}
		default:
			want = append(want, countedRequest{"acc", models.DateOf(c.now()), 3, used + 1, s})
		}
	}
	if !slices.Equal(*counted, want) {
		t.Errorf("counted %v, want %v", *counted, want)
	}
	c.move(time.Second) // the earlier refusal has expired, so the counters are asked
	answer(h)
	if got, want := n.decisions(t), (map[string]float64{"admitted": 8, "refused": 3, "admitted_without_store": 0}); !maps.Equal(got, want) {
		t.Errorf("the metrics tell of %v, want %v", got, want)
	}
	closeNode(t, n.Store)
	h, counted = gated(n, 100, func(*gin.Context) { handled++ })
	if res := answer(h); res.Code != http.StatusServiceUnavailable || res.Header().Get("Retry-After") != "1" || handled != 8 || len(*counted) != 0 {
		t.Errorf("after the end: %d %v, %d handled", res.Code, res.Header(), handled)
	}
}

// A refusal given just after its day ended says to retry in a second, and never sooner; the next answer
// names the end of the new day.
func TestAnswersAtMidnightSayWhen(t *testing.T) {
	t.Parallel()
	c := newTestClock()
	l := &held{Backend: storetest.OpenURL(t, storetest.URL(t), store.Options{Now: c.now})}
	n := watch(t, l, quota.Options{Advance: true, Now: c.now})
	n.burst(t, "acc", 5, 1, 5)
	n.Settle()
	c.toMidnight(-20 * time.Millisecond)
	n.Sync()
	open := l.shut()
	h, _ := gated(n, 5, func(*gin.Context) {})
	got := make(chan *httptest.ResponseRecorder)
	go func() { got <- answer(h) }()
	storetest.Until(t, "the backend's answer to be on its way", func() bool { return l.late.Load() == 1 })
	c.toMidnight(10 * time.Millisecond)
	time.Sleep(100 * time.Millisecond) // the contact takes longer than the clock moves, so neither clock is corrected
	open()
	res := <-got
	if h := res.Header(); res.Code != http.StatusTooManyRequests || h.Get("Retry-After") != "1" || h.Get("RateLimit") != `"daily";r=0;t=1` {
		t.Errorf("%d %v", res.Code, h)
	}
	reset := strconv.FormatInt(c.day()+int64(quota.Day/time.Second), 10)
	if res := answer(h); res.Code != http.StatusOK || res.Header().Get("X-RateLimit-Reset") != reset {
		t.Errorf("the next day: %d %v, want reset %s", res.Code, res.Header(), reset)
	}
	closeNode(t, n.Store)
}
