package api

import (
	"bytes"
	"strconv"

	"lottery/models/catalog"
)

// list is a list of draws to be written in the agreed form.
type list struct {
	page   catalog.Page
	game   string // for the envelope
	search *searchTotals
}

// searchTotals is what search says beside its draws.
type searchTotals struct {
	number, normalized string
	exact, box         int
}

// write answers with l: an envelope in JSON, or records alone with the rest in headers.
func (x *call) write(l list) error {
	x.refs = l.page.Refs
	cursor := ""
	h := x.c.Writer.Header()
	if l.page.More && len(l.page.Refs) > 0 {
		cursor = encodeCursor(x.bind.identity(x.c.Request.URL.Path), l.page.Refs[len(l.page.Refs)-1].Position())
		h["Link"] = []string{x.nextPage(cursor)}
	}
	b := x.body[:0]
	x.records.begin(x.form, l.search != nil)
	if x.form == formJSON {
		b = appendEnvelope(b, &x.records, &l, cursor)
	} else {
		b = x.records.append(x.records.appendHeader(b), l.page.Refs)
		h["X-Total-Count"] = []string{strconv.Itoa(l.page.Total)}
	}
	x.body = b
	return x.send()
}

// comma is what JSON has after each record, and must not have after the last.
var comma = []byte(",")

func appendEnvelope(b []byte, r *records, l *list, cursor string) []byte {
	b = append(b, `{"draws":[`...)
	b = bytes.TrimSuffix(r.append(b, l.page.Refs), comma)
	b = append(b, `],"total":`...)
	b = strconv.AppendInt(b, int64(l.page.Total), 10)
	b = append(b, `,"game":"`...)
	b = append(b, l.game...)
	b = append(b, '"')
	if cursor != "" {
		b = append(b, `,"next_cursor":"`...)
		b = append(b, cursor...)
		b = append(b, '"')
	}
	if s := l.search; s != nil {
		b = append(b, `,"number":"`...)
		b = append(b, s.number...)
		b = append(b, `","normalized":"`...)
		b = append(b, s.normalized...)
		b = append(b, `","exact_total":`...)
		b = strconv.AppendInt(b, int64(s.exact), 10)
		b = append(b, `,"box_total":`...)
		b = strconv.AppendInt(b, int64(s.box), 10)
	}
	return append(b, "}\n"...)
}
