package web

import (
	"html"
	"html/template"
	"net/http"
	"regexp"
	"strconv"

	"lottery/web/mail"
)

func (h *Handler) mailbox(w http.ResponseWriter, r *http.Request) error {
	h.show(w, r, view{Page: "mailbox", Title: "Mailbox", Private: true, Data: h.deps.Mailbox.All()})
	return nil
}

// mailView is the page of one message in the demo's mailbox.
type mailView struct {
	mail.Received

	Text template.HTML
}

var address = regexp.MustCompile(`https?://[^\s<>"]+`)

func (h *Handler) mailboxMessage(w http.ResponseWriter, r *http.Request) error {
	id, err := strconv.Atoi(r.PathValue("id"))
	if err != nil {
		return errNotFound()
	}
	m, ok := h.deps.Mailbox.Get(id)
	if !ok {
		return errNotFound()
	}
	text := address.ReplaceAllString(html.EscapeString(m.Text()), `<a href="$0">$0</a>`)
	h.show(w, r, view{Page: "mail", Title: m.Subject, Private: true, Data: mailView{
		m, template.HTML(text), //nolint:gosec // G203: escaped above
	}})
	return nil
}
