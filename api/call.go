package api

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gin-gonic/gin"

	"lottery/api/deflate"
	"lottery/api/problem"
	"lottery/models/catalog"
)

// call is one request to the API. It uses one catalog from beginning to end, so that an answer never mixes two data
// versions, and buffers that are reused.
type call struct {
	h       *Handler
	c       *gin.Context
	cat     *catalog.Catalog // nil for answers that do not come from the catalog
	form    form
	bind    binder
	refs    []catalog.Ref
	games   [1]*catalog.Game // for queries of one game
	body    []byte
	records records
	few     bool           // the answer is one of few of a catalog, and worth caching however short
	coding  *encoder       // the coding that the client prefers; nil = none
	code    []byte         // the compressed body
	marks   []deflate.Mark // of statistics, for deflate.AppendMarked
}

var calls = sync.Pool{New: func() any { return new(call) }}

// maxPooled is the capacity beyond which buffers are not pooled: a few huge answers must not pin memory forever.
const maxPooled = 1 << 20

func (x *call) release() {
	if cap(x.body) > maxPooled || cap(x.code) > maxPooled || cap(x.refs) > maxPooled/16 {
		return
	}
	x.h, x.c, x.cat, x.games[0] = nil, nil, nil, nil
	x.records.forget()
	x.coding, x.few = nil, false
	clear(x.refs) // references must not keep an old catalog alive
	x.refs, x.body, x.code = x.refs[:0], x.body[:0], x.code[:0]
	calls.Put(x)
}

// endpoint is a path that is answered from the catalog.
type endpoint struct {
	parameters []parameter
	lists      bool // answers a list of draws: takes the parameter format, and offers CSV and NDJSON
	answer     func(x *call) error
}

// serve makes e a handler, which reads the request, agrees on a form and answers; errors go to fail.
func (h *Handler) serve(e endpoint) gin.HandlerFunc {
	if e.lists {
		e.parameters = append(e.parameters, parameter{name: "format", fallback: formNames[formJSON]})
	}
	return func(c *gin.Context) {
		x := calls.Get().(*call) //nolint:forcetypeassert // the pool makes nothing else
		defer x.release()
		x.h, x.c, x.cat = h, c, h.deps.Catalog.Load()
		if err := x.run(&e); err != nil {
			h.fail(c, err)
		}
	}
}

func (x *call) run(e *endpoint) error {
	if x.cat == nil {
		return &problem.Problem{
			Code: problem.Unavailable, Detail: "the draws are still loading; try again in a moment", RetryAfter: time.Second,
			Logged: true, // /readyz says so, and the log if the database is what it waits for
		}
	}
	x.bind.reset(e.parameters)
	x.bind.parse(x.c.Request.URL.RawQuery)
	if err := x.chooseForm(e.lists); err != nil {
		return err
	}
	return e.answer(x)
}

// chooseForm agrees on form and coding. The parameter format beats Accept; an invalid format is an invalid parameter.
func (x *call) chooseForm(lists bool) error {
	x.form, x.coding = formJSON, acceptedEncoder(x.c.Request.Header["Accept-Encoding"])
	end := formJSON + 1 // of the forms that are offered
	if lists {
		end = forms
		if i := x.bind.index("format"); x.bind.given&(1<<i) != 0 {
			x.form = form(slices.Index(formNames[:], x.bind.oneOf("format", formNames[:]...)))
			return nil
		}
	}
	f, ok := acceptedForm(x.c.Request.Header["Accept"], end)
	if !ok {
		return problem.New(problem.NotAcceptable, "the Accept header allows none of the formats that this path offers: %s", strings.Join(mediaTypes[:end], ", "))
	}
	x.form = f
	return nil
}

var (
	cacheControl = []string{"private, no-cache"}
	vary         = []string{"Accept, Accept-Encoding, Origin, X-API-Key"}
)

// finished ends the reading of a request, and reports whether no answer need be made: it has problems (err), the client
// has this answer already (304), or a cached one was sent.
func (x *call) finished() (done bool, err error) {
	if err := x.bind.err(); err != nil {
		return true, err
	}
	tag := x.etag()
	h := x.c.Writer.Header()
	h["Etag"] = []string{tag}
	h["Cache-Control"] = cacheControl
	h["Vary"] = vary
	if matches(x.c.Request.Header["If-None-Match"], tag) {
		x.c.Status(http.StatusNotModified)
		x.c.Writer.WriteHeaderNow()
		return true, nil
	}
	if a := x.cached(); a != nil {
		x.sendAnswer(a)
		return true, nil
	}
	return false, nil
}

// etag identifies what the answer depends on: the data, the program, the request and the form. It is weak, since it
// does not cover the content coding.
func (x *call) etag() string {
	u := x.c.Request.URL
	sum := newHash().text(x.cat.Version().Token).text(x.h.build).text(u.Path).text(u.RawQuery).text(formNames[x.form])
	b := make([]byte, 0, 24)
	b = append(b, `W/"`...)
	b = strconv.AppendUint(b, uint64(sum), 36)
	return string(append(b, '"'))
}

// matches implements the weak comparison of RFC 9110, 13.1.2.
func matches(header []string, tag string) bool {
	for _, line := range header {
		for item := range strings.SplitSeq(line, ",") {
			item = strings.TrimSpace(item)
			if item == "*" || strings.TrimPrefix(item, "W/") == strings.TrimPrefix(tag, "W/") {
				return true
			}
		}
	}
	return false
}

// send writes x.body, compressed if the client accepts that and it pays off.
func (x *call) send() error {
	if x.coding == nil || len(x.body) <= minCompressed {
		a := x.answer(x.body, nil)
		x.sendAnswer(&a)
		return nil
	}
	var err error
	if x.code, err = x.coding.compress(x.code, x.body); err != nil {
		return err
	}
	x.sendCoded(x.few || len(x.body) > deflate.MaxShort)
	return nil
}

// sendCoded writes x.code, and caches it if that is worth it.
func (x *call) sendCoded(worth bool) {
	a := x.answer(x.code, x.coding.name)
	if x.cat != nil && worth {
		x.cache(&a)
	}
	x.sendAnswer(&a)
}

// answer returns an answer with body in the given coding.
func (x *call) answer(body []byte, coding []string) answer {
	h := x.c.Writer.Header()
	return answer{body: body, coding: coding, length: []string{strconv.Itoa(len(body))}, link: h["Link"], total: h["X-Total-Count"]}
}

// nextPage is the Link header's value for the next page: the address of this request with the given cursor.
func (x *call) nextPage(cursor string) string {
	u := x.c.Request.URL
	b := make([]byte, 0, 512)
	b = append(b, '<')
	b = append(b, x.h.deps.PublicURL...)
	b = append(b, u.EscapedPath()...)
	mark := byte('?')
	for pair := range strings.SplitSeq(u.RawQuery, "&") {
		name, _, _ := strings.Cut(pair, "=")
		if name, _ := unescape(name); pair != "" && name != "cursor" {
			b = append(append(b, mark), pair...)
			mark = '&'
		}
	}
	b = append(append(b, mark), "cursor="...)
	b = append(b, cursor...) // base64url: nothing to escape
	return string(append(b, `>; rel="next"`...))
}
