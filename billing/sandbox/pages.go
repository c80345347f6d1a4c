package sandbox

import (
	"bytes"
	"embed"
	"html/template"
	"net/http"
	"strconv"
	"time"
)

//go:embed pages
var pageFiles embed.FS

var templates = template.Must(template.ParseFS(pageFiles, "pages/*.html"))

// routesOfPages serves everything but the API. Forms from other origins are refused: a page somewhere on the web must
// not press the buttons of a sandbox on its reader's machine.
func (s *Sandbox) routesOfPages() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /sandbox.css", styleSheet)
	mux.HandleFunc("GET /c/pay/{id}", s.checkoutPage)
	mux.HandleFunc("POST /c/pay/{id}", s.checkoutPay)
	mux.HandleFunc("POST /c/cancel/{id}", s.checkoutCancel)
	mux.HandleFunc("GET /p/session/{id}", s.portalPage)
	mux.HandleFunc("POST /p/session/{id}", s.portalPost)
	controls := localOnly(s.controls())
	mux.Handle("/_sandbox", controls)
	mux.Handle("/_sandbox/", controls)
	return http.NewCrossOriginProtection().Handler(mux)
}

func styleSheet(w http.ResponseWriter, _ *http.Request) {
	b, _ := pageFiles.ReadFile("pages/style.css") // embedded
	w.Header().Set("Content-Type", "text/css; charset=utf-8")
	_, _ = w.Write(b)
}

// top is what every page's data has.
type top struct{ Title, Note string }

// message is a page that only says something.
type message struct {
	top

	Text, Link string
}

// show writes a page.
func show(w http.ResponseWriter, status int, name string, data any) {
	var b bytes.Buffer
	if err := templates.ExecuteTemplate(&b, name, data); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'self'; base-uri 'none'; frame-ancestors 'none'")
	h.Set("Cache-Control", "no-store")
	h.Set("Referrer-Policy", "same-origin")
	h.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, _ = b.WriteTo(w)
}

func say(w http.ResponseWriter, status int, title, text, link string) {
	show(w, status, "message", message{top{Title: title}, text, link})
}

// form reads a small form.
func form(w http.ResponseWriter, r *http.Request) bool {
	r.Body = http.MaxBytesReader(w, r.Body, 1<<16)
	if err := r.ParseForm(); err != nil {
		say(w, http.StatusBadRequest, "That did not work", "The form could not be read.", "")
		return false
	}
	return true
}

// leave redirects to a URL that a caller of the API has stored.
func leave(w http.ResponseWriter, r *http.Request, to string) {
	http.Redirect(w, r, to, http.StatusSeeOther)
}

func date(at int64) string {
	if at == 0 {
		return ""
	}
	return time.Unix(at, 0).UTC().Format("January 2, 2006, 15:04 UTC")
}

// every returns a price's interval in words.
func (p *price) every() string {
	if p.Count == 1 {
		return p.Interval
	}
	return strconv.FormatInt(p.Count, 10) + " " + p.Interval + "s"
}
