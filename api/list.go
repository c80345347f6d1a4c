package api

import (
	"bytes"
	"hash/maphash"
	"strconv"
	"sync/atomic"

	"lottery/models/catalog"
)

// list is a list of draws to be written in the agreed form.
type list struct {
	page   catalog.Page
	game   string // for the JSON envelope
	search *searchTotals
	cursor string // of the next page; "" = this is the last
}

// searchTotals is what a search reports besides its draws.
type searchTotals struct {
	number, normalized string
	exact, box         int
}

const (
	// longList is the number of records (each 200 bytes or more as JSON) from which a JSON or NDJSON
	// list is written in pieces to a single client.
	longList = 500
	// uncachedRecords is the number of records up to which a list that we compress ourselves is not cached: making it anew
	// costs no more than the rest of the answer.
	uncachedRecords = 150
	// pieceSize is roughly the size of a piece in bytes: small enough to still be in the
	// processor's cache when it is sent.
	pieceSize = 56 << 10
)

// write answers with l: as an envelope in JSON, or as bare records with the rest in headers.
func (x *call) write(l list) error {
	x.refs = l.page.Refs
	h := x.c.Writer.Header()
	if l.page.More && len(l.page.Refs) > 0 {
		l.cursor = encodeCursor(x.bind.identity(x.c.Request.URL.Path), l.page.Refs[len(l.page.Refs)-1].Position())
		h["Link"] = []string{x.nextPage(l.cursor)}
	}
	if x.form != formJSON {
		h["X-Total-Count"] = []string{strconv.Itoa(l.page.Total)}
	}
	x.records.begin(x.form, l.search != nil)
	x.records.readAhead(l.page.Refs)
	if x.coding == nil && x.form != formCSV && len(l.page.Refs) >= longList && x.h.longLists.again(x.c.Request.RemoteAddr) {
		x.writePieces(&l)
		return nil
	}
	if x.coding == gzipEncoder && x.writeGzip(&l) {
		return nil
	}
	b := x.records.appendHeader(x.body[:0])
	b = x.records.append(b, l.page.Refs)
	x.body = x.appendEnd(b, &l)
	return x.send()
}

// writeGzip answers with a list that we compress ourselves. It reports false if that is not
// possible or does not pay off.
func (x *call) writeGzip(l *list) bool {
	var ok bool
	x.code, x.body, ok = x.records.appendGzip(x.code[:0], x.body, l.page.Refs, func(b []byte) []byte { return x.appendEnd(b, l) })
	if ok {
		x.sendCoded(len(l.page.Refs) > uncachedRecords)
	}
	return ok
}

// lastConnection is the connection that asked for a long list last.
type lastConnection struct {
	seed maphash.Seed
	hash atomic.Uint64 // of its remote address
}

// again reports whether addr, the remote address of a connection, asked last time too: a single client waits for each
// answer, while with several there is always work for the processors.
func (l *lastConnection) again(addr string) bool {
	hash := maphash.String(l.seed, addr)
	if l.hash.Load() == hash {
		return true
	}
	l.hash.Store(hash)
	return false
}

// writePieces answers with a long list piece by piece: one is being sent while the next is made (decision 0028).
func (x *call) writePieces(l *list) {
	r, refs := &x.records, l.page.Refs
	size := len(r.header()) + r.size(refs)
	if x.form == formJSON {
		size += len(l.appendEnvelope(x.body[:0])) - len(comma)
	}
	x.head(&answer{length: []string{strconv.Itoa(size)}})
	b := r.appendHeader(x.body[:0])
	pieces := (size + pieceSize - 1) / pieceSize
	for each := (len(refs) + pieces - 1) / pieces; len(refs) > 0; b = b[:0] {
		n := min(each, len(refs))
		b = r.append(b, refs[:n])
		if refs = refs[n:]; len(refs) == 0 {
			b = x.appendEnd(b, l)
		}
		x.body = b
		if _, err := x.c.Writer.Write(b); err != nil {
			return // the client has gone away: there is nobody left to tell
		}
	}
}

// appendEnd appends what follows the last record.
func (x *call) appendEnd(b []byte, l *list) []byte {
	if x.form != formJSON {
		return b
	}
	return l.appendEnvelope(bytes.TrimSuffix(b, comma))
}

// comma follows each record in JSON, except the last.
var comma = []byte(",")

// appendEnvelope appends what follows the draws in JSON.
func (l *list) appendEnvelope(b []byte) []byte {
	b = append(b, `],"total":`...)
	b = strconv.AppendInt(b, int64(l.page.Total), 10)
	b = append(b, `,"game":"`...)
	b = append(b, l.game...)
	b = append(b, '"')
	if l.cursor != "" {
		b = append(b, `,"next_cursor":"`...)
		b = append(b, l.cursor...)
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
