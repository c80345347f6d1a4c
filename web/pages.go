package web

import (
	"bytes"
	"compress/gzip"
	"embed"
	"fmt"
	"html/template"
	"io"
	"io/fs"
	"net/http"
	"path"
	"strconv"
	"strings"
	"sync"
)

//go:embed templates
var templateFiles embed.FS

// loadPages returns the parsed templates by the pages' names, each with the layout.
func loadPages(a *assets) (map[string]*template.Template, error) {
	functions := template.FuncMap{
		"asset": a.of, "thousands": thousands, "counted": counted, "noun": noun, "day": humanDay, "ago": ago,
		"moment": moment, "plan": planName, "dict": dict, "digits": func(s string) []string { return strings.Split(s, "") }, "number": numberOf,
	}
	shared, err := template.New("").Funcs(functions).ParseFS(templateFiles, "templates/layout/*.html")
	if err != nil {
		return nil, err
	}
	pages := map[string]*template.Template{}
	files, err := fs.Glob(templateFiles, "templates/*.html")
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		t, err := shared.Clone()
		if err != nil {
			return nil, err
		}
		if t, err = t.ParseFS(templateFiles, file); err != nil {
			return nil, err
		}
		pages[strings.TrimSuffix(path.Base(file), ".html")] = t
	}
	return pages, nil
}

// dict makes a map of alternating names and values, for passing several values to a nested template.
func dict(pairs ...any) (map[string]any, error) {
	if len(pairs)%2 != 0 {
		return nil, fmt.Errorf("dict wants pairs")
	}
	m := make(map[string]any, len(pairs)/2)
	for i := 0; i < len(pairs); i += 2 {
		m[fmt.Sprint(pairs[i])] = pairs[i+1]
	}
	return m, nil
}

// view is what a page shows.
type view struct {
	Page        string    // name of the template
	Title       string    // "" = the product's name alone
	Description string    // for search engines
	Section     string    // current entry of the top navigation: docs, explore, pricing, dashboard
	Sub         string    // current entry of the dashboard's navigation
	Status      int       // 0 = 200
	Private     bool      // meant for one person: never cached
	Kept        *keptPage // not nil = where the page is kept for everybody who is signed out
	KeptOf      any       // what the kept page was made of, besides the draws; comparable
	Data        any

	// The rest is for the layout; show fills it in.
	Path      string
	Visitor   *visitor // nil = signed out
	Demo      *Demo
	Mailbox   bool
	SignUp    bool // mail can be sent, so people can sign up
	Billing   bool
	Support   string
	PublicURL string
	Canonical string
	NoIndex   bool // private page that is open to everybody; search engines cannot reach the others
}

// show renders a page and writes it. It renders to memory first, so that a failing template yields an error and not
// half a page.
func (h *Handler) show(w http.ResponseWriter, r *http.Request, v view) {
	v.Path, v.Visitor = r.URL.Path, visitorOf(r)
	v.Demo, v.Mailbox, v.SignUp, v.Billing = h.deps.Demo, h.deps.Mailbox != nil, h.deps.Mail != nil, h.deps.Billing != nil
	v.Support, v.PublicURL = h.deps.Support, h.deps.PublicURL
	if v.NoIndex = v.Private && v.Visitor == nil; v.NoIndex {
		w.Header().Set("X-Robots-Tag", "noindex")
	}
	if v.Description == "" && v.Visitor != nil {
		v.Description = "Your Lottery Draws API account: usage, keys, plan."
	}
	if !v.Private {
		v.Canonical = h.deps.PublicURL + r.URL.Path
	}
	made, err := h.made(&v)
	if err != nil {
		h.deps.Log.ErrorContext(r.Context(), "page cannot be made", "page", v.Page, "error", err)
		http.Error(w, "Something went wrong here. The error was logged; try again in a moment.", http.StatusInternalServerError)
		return
	}
	header := w.Header()
	header.Set("Content-Type", "text/html; charset=utf-8")
	if v.Status == 0 {
		v.Status = http.StatusOK
	}
	if v.Private {
		// Never compressed either: the size of a compressed response that contains both user input and a secret would
		// leak the secret.
		header.Set("Cache-Control", "no-store")
		send(w, r, v.Status, made.text)
		return
	}
	header.Set("Cache-Control", "private, no-cache")
	header.Set("Vary", "Accept-Encoding, Cookie")
	if acceptsGzip(r) {
		header.Set("Content-Encoding", "gzip")
		send(w, r, v.Status, made.zipped())
		return
	}
	send(w, r, v.Status, made.text)
}

// keptPage is a page that is the same for everybody who is signed out. It is made when it is first requested, and again
// when what it is made of has changed.
type keptPage struct {
	making sync.Mutex
	of     any
	page   *madePage
}

// madePage is a page, plain and compressed.
type madePage struct {
	text   []byte
	zipped func() []byte
}

// made makes a page, or returns the kept one.
func (h *Handler) made(v *view) (*madePage, error) {
	if v.Kept == nil || v.Visitor != nil {
		text, err := h.render(v)
		return &madePage{text, func() []byte { return zipped(text) }}, err
	}
	k := v.Kept
	k.making.Lock()
	defer k.making.Unlock()
	if k.page == nil || k.of != v.KeptOf {
		text, err := h.render(v)
		if err != nil {
			return nil, err
		}
		text = bytes.Clone(text) // without the spare room of the buffer
		k.of, k.page = v.KeptOf, &madePage{text, sync.OnceValue(func() []byte { return bytes.Clone(zipped(text)) })}
	}
	return k.page, nil
}

func (h *Handler) render(v *view) ([]byte, error) {
	t, ok := h.pages[v.Page]
	if !ok {
		return nil, fmt.Errorf("there is no page %q", v.Page)
	}
	var b bytes.Buffer
	err := t.ExecuteTemplate(&b, "layout", v)
	return b.Bytes(), err
}

// zippers holds gzip writers for reuse: a new one allocates 800 KB.
var zippers = sync.Pool{New: func() any { return gzip.NewWriter(io.Discard) }}

func zipped(text []byte) []byte {
	var b bytes.Buffer
	z, _ := zippers.Get().(*gzip.Writer) // holds nothing else
	z.Reset(&b)
	_, _ = z.Write(text) // to memory: cannot fail
	_ = z.Close()
	z.Reset(io.Discard) // so that the pool does not keep the page
	zippers.Put(z)
	return b.Bytes()
}

func send(w http.ResponseWriter, r *http.Request, status int, text []byte) {
	w.Header().Set("Content-Length", strconv.Itoa(len(text)))
	w.WriteHeader(status)
	if r.Method != http.MethodHead {
		_, _ = w.Write(text) // fails only if the client has gone
	}
}

// text writes a response that is not an HTML page; caches may keep it for five minutes.
func (*Handler) text(w http.ResponseWriter, r *http.Request, contentType, text string) error {
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("Cache-Control", "public, max-age=300")
	send(w, r, http.StatusOK, []byte(text))
	return nil
}

// seeOther redirects with 303, as after a form. to never comes from the request, so this is no open redirect.
func seeOther(w http.ResponseWriter, r *http.Request, to string) error {
	w.Header().Set("Cache-Control", "no-store")
	http.Redirect(w, r, to, http.StatusSeeOther)
	return nil
}

// message is a page with a text and one link.
type message struct{ Text, Link, Label string }
