package api

import (
	"slices"
	"strconv"
	"unicode/utf8"

	"lottery/models"
	"lottery/models/catalog"
)

// digits is a drawn number taken apart: what every form of a record is written from.
type digits struct {
	n      int
	drawn  [10]byte // in drawn order, as ASCII
	sorted [10]byte // ascending, as ASCII
	sum    int
}

func (d *digits) set(number uint64, n int) {
	var counts [10]byte
	d.n, d.sum = n, 0
	for i := n - 1; i >= 0; i-- {
		digit := byte(number % 10)
		number /= 10
		d.drawn[i] = '0' + digit
		counts[digit]++
		d.sum += int(digit)
	}
	at := 0
	for digit, count := range counts {
		for range count {
			d.sorted[at] = byte('0' + digit)
			at++
		}
	}
}

// appendPairs appends the distinct pairs in ascending order, with sep between them, quoted for JSON or plain. The
// digits are sorted, so equal ones are neighbours.
func (d *digits) appendPairs(b []byte, quoted bool, sep byte) []byte {
	first := true
	for i := range d.n {
		if i > 0 && d.sorted[i] == d.sorted[i-1] {
			continue
		}
		for j := i + 1; j < d.n; j++ {
			if j > i+1 && d.sorted[j] == d.sorted[j-1] {
				continue
			}
			if !first {
				b = append(b, sep)
			}
			first = false
			if quoted {
				b = append(b, '"', d.sorted[i], d.sorted[j], '"')
			} else {
				b = append(b, d.sorted[i], d.sorted[j])
			}
		}
	}
	return b
}

// records writes draw records as JSON, in the field order of the contract. What neighbours in a list share is made
// once: a month's dates follow each other, and most numbers of a game come again and again.
type records struct {
	search bool        // adds the eleventh field
	games  []gameTexts // that this list has met: those of several come by turns
	of     int         // which of them the last record was of
	text   []byte      // of all of them
	month  struct{ first, next models.Date }
	start  [32]byte // what records of a date of that month begin with, but for the day: startForm
	read   byte     // what readAhead read, which is to be seen to be of use
}

const (
	startForm = `{"date":"2006-01-02","tod":"`
	yearAt    = len(`{"date":"`)
	monthAt   = len(`{"date":"2006-`)
	dayAt     = len(`{"date":"2006-01-`)
)

// todText is the name of a time of day.
type todText struct {
	text [15]byte
	len  uint8
}

var todTexts = func() (texts [models.TodCount + 1]todText) {
	for tod := range texts {
		texts[tod].len = uint8(copy(texts[tod].text[:], models.Tod(tod).String()))
	}
	return texts
}()

// appendList appends records with sep between them.
func (r *records) appendList(b []byte, refs []catalog.Ref, sep byte) []byte {
	for i, ref := range refs {
		if i%aheadBy == 0 {
			r.readAhead(refs[i:min(i+aheadBy, len(refs))])
		}
		if i > 0 {
			b = append(b, sep)
		}
		b = r.append(b, ref)
	}
	return b
}

// aheadBy is how many records' texts are read ahead.
const aheadBy = 64

// readAhead reads a byte from each end of the texts that records are about to be written from. Those of numbers that
// nobody asked for lately are not in the processor's cache: reading one right after the other, it waits for all of them
// at once.
func (r *records) readAhead(refs []catalog.Ref) {
	var known []numberText
	of, read := 0, byte(0)
	for _, ref := range refs {
		if n := ref.Game().Digits; n != of {
			known, of = numberTextsOf(n), n
		}
		if known != nil {
			t := &known[ref.Number()]
			read ^= t.fields[0] ^ t.fields[64] ^ t.pairsLen
		}
	}
	r.read = read
}

// recordRoom is more than a record takes beside its game's middle, and the block that is copied last.
const recordRoom = 256

// append appends one record. Texts whose length is nearly the same for all are copied in blocks of fixed size, which
// takes a few instructions and no call: what is more than the text is overwritten by what follows it.
func (r *records) append(b []byte, ref catalog.Ref) []byte {
	if g := ref.Game(); len(r.games) == 0 || r.games[r.of].game != g {
		r.enter(g)
	}
	g := &r.games[r.of]
	date := ref.Date()
	if date < r.month.first || date >= r.month.next {
		r.enterMonth(date)
	}
	day := date - r.month.first + 1
	at := len(b)
	b = slices.Grow(b, recordRoom+len(g.middle))
	room := b[at:cap(b)]
	*(*[len(r.start)]byte)(room) = r.start
	putDigits(room[dayAt:], uint(day))
	n := len(startForm)
	tod := &todTexts[ref.Tod()]
	*(*[len(tod.text)]byte)(room[n:]) = tod.text
	n += int(tod.len)
	if g.known != nil {
		t := &g.known[ref.Number()]
		*(*[len(t.fields)]byte)(room[n:]) = t.fields
		n += int(t.fieldsLen)
		n += copy(room[n:], g.middle)
		*(*[len(t.pairs)]byte)(room[n:]) = t.pairs
		n += int(t.pairsLen)
		b = b[:at+n]
	} else {
		var d digits
		d.set(ref.Number(), g.game.Digits)
		b = d.appendNumber(b[:at+n])
		b = append(b, g.middle...)
		b = d.appendPairs(b, true, ',')
	}
	switch {
	case !r.search:
		return append(b, `]}`...)
	case ref.Exact():
		return append(b, `],"match":"exact"}`...)
	default:
		return append(b, `],"match":"box"}`...)
	}
}

// enterMonth makes start that of date's month. Lists go through the days of a month.
func (r *records) enterMonth(date models.Date) {
	year, month, day := date.Civil()
	r.month.first = date - models.Date(day-1)
	r.month.next = r.month.first + models.Date(models.DaysIn(year, month))
	copy(r.start[:], startForm)
	putDigits(r.start[yearAt:], uint(year/100))
	putDigits(r.start[yearAt+2:], uint(year%100))
	putDigits(r.start[monthAt:], uint(month))
}

// putDigits writes n, which is less than 100, as two digits.
func putDigits(b []byte, n uint) {
	b[0], b[1] = byte('0'+n/10), byte('0'+n%10)
}

// gameTexts is what all records of a game share.
type gameTexts struct {
	game   *catalog.Game
	middle []byte       // between number and pairs
	known  []numberText // by number; nil = made for each record
}

func (r *records) enter(g *catalog.Game) {
	for i := range r.games {
		if r.games[i].game == g {
			r.of = i
			return
		}
	}
	from := len(r.text)
	b := r.text
	b = append(b, `,"game":"`...)
	b = append(b, g.ID...) // [a-z0-9-]: nothing to escape
	b = append(b, `","game_name":`...)
	b = appendJSONString(b, g.Name)
	b = append(b, `,"game_type":"`...)
	b = append(b, g.Type...)
	b = append(b, `","pairs_2dp":[`...)
	r.text = b
	r.of = len(r.games)
	r.games = append(r.games, gameTexts{g, r.text[from:], numberTextsOf(g.Digits)})
}

// forget lets go of the games, which hold their draws; the buffers stay.
func (r *records) forget() {
	clear(r.games)
	r.games, r.of, r.text, r.search = r.games[:0], 0, r.text[:0], false
}

func matchName(ref catalog.Ref) string {
	if ref.Exact() {
		return "exact"
	}
	return "box"
}

// appendJSONString appends s quoted, as RFC 8259 wants it.
func appendJSONString(b []byte, s string) []byte {
	const hex = "0123456789abcdef"
	b = append(b, '"')
	for i := 0; i < len(s); {
		c := s[i]
		switch {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
			i++
		case c < 0x20:
			b = append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
			i++
		case c < utf8.RuneSelf:
			b = append(b, c)
			i++
		default:
			r, size := utf8.DecodeRuneInString(s[i:])
			b = utf8.AppendRune(b, r)
			i += size
		}
	}
	return append(b, '"')
}

const (
	csvHeader       = "date,tod,numbers,number_str,normalized,digits_sum,game,game_name,game_type,pairs_2dp\r\n"
	csvSearchHeader = "date,tod,numbers,number_str,normalized,digits_sum,game,game_name,game_type,pairs_2dp,match\r\n"
)

// appendCSVRecord appends a draw record as an RFC 4180 line; list fields are joined by a space.
func appendCSVRecord(b []byte, ref catalog.Ref, search bool) []byte {
	g := ref.Game()
	var d digits
	d.set(ref.Number(), g.Digits)
	b = ref.Date().AppendTo(b)
	b = append(b, ',')
	b = append(b, ref.Tod().String()...)
	b = append(b, ',')
	for i := range d.n {
		if i > 0 {
			b = append(b, ' ')
		}
		b = append(b, d.drawn[i])
	}
	b = append(b, ',')
	b = append(b, d.drawn[:d.n]...)
	b = append(b, ',')
	b = append(b, d.sorted[:d.n]...)
	b = append(b, ',')
	b = strconv.AppendInt(b, int64(d.sum), 10)
	b = append(b, ',')
	b = append(b, g.ID...)
	b = append(b, ',')
	b = appendCSVField(b, g.Name)
	b = append(b, ',')
	b = append(b, g.Type...)
	b = append(b, ',')
	b = d.appendPairs(b, false, ' ')
	if search {
		b = append(b, ',')
		b = append(b, matchName(ref)...)
	}
	return append(b, '\r', '\n')
}

// appendCSVField quotes s where RFC 4180 wants it.
func appendCSVField(b []byte, s string) []byte {
	plain := true
	for i := range len(s) {
		if c := s[i]; c == ',' || c == '"' || c == '\r' || c == '\n' {
			plain = false
		}
	}
	if plain {
		return append(b, s...)
	}
	b = append(b, '"')
	for i := range len(s) {
		if s[i] == '"' {
			b = append(b, '"')
		}
		b = append(b, s[i])
	}
	return append(b, '"')
}
