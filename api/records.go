package api

import (
	"slices"

	"lottery/models"
	"lottery/models/catalog"
)

// records writes the draw records of a list. It makes the texts that records share only once.
type records struct {
	form   form
	search bool
	games  []gameTexts // games met in this list, whose records may alternate
	ofRank []int       // index in games by a game's rank; other entries are stale
	text   []byte      // backs long of all games
	read   uint16      // keeps the compiler from discarding readAhead's reads
}

// gameTexts has what all records of a game share.
type gameTexts struct {
	game   *catalog.Game
	known  *numberTexts // nil = each record is made: numbers have many digits, or the game's name is long
	middle text128      // the output of appendGame
	long   []byte       // the same, however long it is
}

// recordTexts has what all records of a form share.
type recordTexts struct {
	tods [8]text32 // by time of day
	ends [4]text32 // by match: the text after the pairs, up to the date of the next record
}

// How a record was found, which a search reports.
const (
	notSearched = iota
	boxMatch
	exactMatch
)

var formTexts = func() (all [forms]recordTexts) {
	for f := range all {
		l, t := &layouts[f], &all[f]
		for tod := range models.TodCount + 1 {
			t.tods[tod] = newText32([]byte(l.tod + models.Tod(tod).String()))
		}
		for match, end := range [...]string{notSearched: l.end, boxMatch: l.box, exactMatch: l.exact} {
			t.ends[match] = newText32([]byte(end + l.terminator + l.date))
		}
	}
	return all
}()

const dateLen = len("2006-01-02")

// dateTexts has all dates that draws can have, starting at models.FirstDate.
var dateTexts = func() [][dateLen]byte {
	texts := make([][dateLen]byte, models.LastDate-models.FirstDate+1)
	for i := range texts {
		(models.FirstDate + models.Date(i)).AppendTo(texts[i][:0])
	}
	return texts
}()

// begin prepares r for a list.
func (r *records) begin(f form, search bool) { r.form, r.search = f, search }

// forget drops the games, which reference their draws; the buffers are kept.
func (r *records) forget() {
	clear(r.games)
	r.games, r.text = r.games[:0], r.text[:0]
}

// header is the text before the first record.
func (r *records) header() string {
	if r.search {
		return layouts[r.form].searchHeader
	}
	return layouts[r.form].header
}

func (r *records) appendHeader(b []byte) []byte { return append(b, r.header()...) }

// append appends the records of refs, each with the form's terminator.
func (r *records) append(b []byte, refs []catalog.Ref) []byte {
	l, texts := &layouts[r.form], &formTexts[r.form]
	b = append(b, l.date...)
	at, all := len(b), b[:cap(b)]
	var g *gameTexts
	for i := range refs {
		ref := &refs[i]
		if g == nil || ref.Game() != g.game {
			g = r.enter(ref.Game())
		}
		if len(all)-at < len(recordSpace{}) {
			all = slices.Grow(all[:at], len(recordSpace{}))
			all = all[:cap(all)]
		}
		room := (*recordSpace)(all[at:])
		*(*[dateLen]byte)(room[:]) = dateTexts[ref.Date()-models.FirstDate]
		n := texts.tods[ref.Tod()&7].put(room, dateLen)
		end := &texts.ends[r.match(ref)&3]
		if t := g.known; t != nil {
			number := ref.Number()
			box := &t.boxes[t.box(number)]
			if t.five == nil {
				n = t.drawn[number].text.put(room, n)
			} else {
				n = t.five.put(room, n, number)
			}
			n = box.fields.put(room, n)
			n = g.middle.put(room, n)
			n = box.pairs.put(room, n)
			at += end.put(room, n)
			continue
		}
		made := end.appendTo(r.appendMade(all[:at+n], ref, g))
		at, all = len(made), made[:cap(made)]
	}
	return all[:at-len(l.date)]
}

// size is how many bytes append appends for refs.
func (r *records) size(refs []catalog.Ref) int {
	texts := &formTexts[r.form] // ends includes the text before the next date
	size := len(refs) * dateLen
	var g *gameTexts
	var made []byte
	for i := range refs {
		ref := &refs[i]
		if g == nil || ref.Game() != g.game {
			g = r.enter(ref.Game())
		}
		size += int(texts.tods[ref.Tod()&7].len) + int(texts.ends[r.match(ref)&3].len)
		if t := g.known; t != nil {
			size += int(t.sizes[ref.Number()]) + int(g.middle.len)
			continue
		}
		made = r.appendMade(made[:0], ref, g)
		size += len(made)
	}
	return size
}

// aheadBy is how many records' texts are read ahead: enough for most lists.
const aheadBy = 64

// readAhead touches the texts that the first records of a list are about to be written from. Texts of numbers that were
// not requested lately are not in the processor's cache; touching them back to back overlaps the cache misses.
func (r *records) readAhead(refs []catalog.Ref) {
	refs = refs[:min(len(refs), aheadBy)]
	var known *numberTexts
	of, read := 0, uint16(0)
	for i := range refs {
		if n := refs[i].Game().Digits; n != of {
			known, of = numberTextsOf(r.form, n), n
		}
		if known != nil {
			read ^= known.box(refs[i].Number())
		}
	}
	r.read = read
}

func (r *records) match(ref *catalog.Ref) int {
	switch {
	case !r.search:
		return notSearched
	case ref.Exact():
		return exactMatch
	default:
		return boxMatch
	}
}

// appendMade appends everything of a record between tod and match.
func (r *records) appendMade(b []byte, ref *catalog.Ref, g *gameTexts) []byte {
	l := &layouts[r.form]
	var d digits
	d.set(ref.Number(), g.game.Digits)
	b = l.appendBox(l.appendDrawn(b, &d), &d)
	return l.appendPairs(append(b, g.long...), &d)
}

// enter returns the texts of a game.
func (r *records) enter(g *catalog.Game) *gameTexts {
	rank := g.Rank()
	if more := rank + 1 - len(r.ofRank); more > 0 {
		r.ofRank = append(r.ofRank, make([]int, more)...)
	}
	if i := r.ofRank[rank]; i < len(r.games) && r.games[i].game == g {
		return &r.games[i]
	}
	r.ofRank[rank] = len(r.games)
	from := len(r.text)
	r.text = layouts[r.form].appendGame(r.text, g)
	t := gameTexts{game: g, long: r.text[from:]}
	if len(t.long) <= maxText128 {
		t.known, t.middle = numberTextsOf(r.form, g.Digits), newText128(t.long)
	}
	r.games = append(r.games, t)
	return &r.games[len(r.games)-1]
}
