// Package mail sends the service's few emails: by SMTP, or to a mailbox that the demo shows.
package mail

import (
	"context"
	"errors"
	"html/template"
	"strings"
)

// Message is one email to one person: paragraphs, and at most one link.
type Message struct {
	To      string
	Subject string
	Lines   []string // paragraphs before the link
	Action  string   // what the link does: "Sign in"
	Link    string   // "" = none
	After   []string // paragraphs after the link
	ReplyTo string   // "" = no Reply-To header
	Once    string   // names the message across attempts to send it, for its Message-ID; "" = each attempt is a new one
}

// ErrUnconfirmed means that a message was sent, and the server did not say in time whether it took it.
var ErrUnconfirmed = errors.New("the server did not say whether it took the mail")

// ErrRecipient means that the server takes no mail for that recipient: its domain or mailbox does not exist.
var ErrRecipient = errors.New("the mail server takes no mail for the recipient")

// Sender sends messages. If Send returns an error other than ErrUnconfirmed, the message was not sent.
type Sender interface {
	Send(ctx context.Context, m Message) error
}

// Text returns the message as plain text.
func (m *Message) Text() string {
	parts := append([]string{}, m.Lines...)
	if m.Link != "" {
		parts = append(parts, m.Action+":\n"+m.Link)
	}
	return strings.Join(append(parts, m.After...), "\n\n") + "\n"
}

// letter is plain on purpose: no images, nothing to load, and the link's URL readable below the button.
var letter = template.Must(template.New("").Parse(`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{{.Subject}}</title></head>
<body style="margin:0;padding:24px;font:16px/1.6 -apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif;color:#1c1a17;background:#fff">
<div style="max-width:34rem">
{{range .Lines}}<p>{{.}}</p>
{{end}}{{if .Link}}<p><a href="{{.Link}}" style="display:inline-block;padding:10px 18px;border-radius:8px;background:#1c1a17;color:#fff;text-decoration:none">{{.Action}}</a></p>
<p style="font-size:13px;color:#5c574f;word-break:break-all">Or copy this link: {{.Link}}</p>
{{end}}{{range .After}}<p style="color:#5c574f">{{.}}</p>
{{end}}</div></body></html>
`))

// HTML returns the message as HTML.
func (m *Message) HTML() (string, error) {
	var b strings.Builder
	err := letter.Execute(&b, m)
	return b.String(), err
}
