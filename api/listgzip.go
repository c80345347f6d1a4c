package api

import (
	"encoding/binary"
	"hash/crc32"
	"math/bits"
	"slices"
	"sync"

	"lottery/api/deflate"
	"lottery/models"
	"lottery/models/catalog"
)

// We compress lists ourselves. A library would search for repetitions and build codes for each list; the
// code that writes the records knows where each part of a record last stood, and roughly how often each
// symbol comes. Decision 0031.

// pieceRecords is how many records are written and then compressed at a time: they stay in the processor's cache.
const pieceRecords = 64

// listGzip compresses the records of a list.
//
// Positions keep growing from list to list, with a gap of more than a window: what stood in an earlier list is out of
// reach and need not be cleared.
type listGzip struct {
	*listCodes
	records *records
	out     []byte
	text    []byte // the piece being compressed
	textAt  int    // its position

	last       int                     // what the previous record matched; -1 = there is none
	game       *catalog.Game           // of the previous record
	number     *numberCodes            // for numbers of that game
	texts      *gameTexts              // of that game
	index      int                     // index of that game in the list
	lastTod    stretch                 // the previous record's time of day with the text around it
	lastGame   []byte                  // the text between the previous record's sum and first pair, without the quote
	lastMiddle stretch                 // where that text is
	ends       [4]endPlace             // by match
	tods       [8]int                  // last position of each time of day with the text after it
	drawn      [maxKnownDigits + 1]int // last position of the first item of numbers, by width
	middles    []int                   // last position of the text between sum and first pair, by game
	numbers    [seenSlots]place        // last positions of numbers
	boxes      [seenSlots]place        // of boxes
	sums       [seenSlots]place        // and of sums
}

// stretch is a part of the text.
type stretch struct{ at, len int }

// endPlace is where a record's end last stood, and the date after it.
type endPlace struct {
	at   int
	date models.Date
}

// place is where a number, box or sum of a game last stood.
type place struct {
	what uint64
	at   int
}

// seenSlots is how many of each are remembered: a window holds 150 records of JSON.
const seenSlots = 256

func slot(places *[seenSlots]place, what uint64) *place {
	return &places[what*0x9E3779B185EBCA87>>56]
}

var listGzips = sync.Pool{New: func() any { return new(listGzip) }}

// appendGzip appends a list in gzip format: the header, the records of refs, and what end appends. It assembles
// the text in room, which it returns as grown. ok is false if the list is not worth compressing, or has a game
// that there are no codes for.
func (r *records) appendGzip(dst, room []byte, refs []catalog.Ref, end func(b []byte) []byte) (_, grown []byte, ok bool) {
	z := listGzips.Get().(*listGzip) //nolint:forcetypeassert // the pool makes nothing else
	defer z.release()
	began := z.begin(r)
	from := len(dst)
	dst = slices.Grow(dst, deflate.BeginRoom)
	z.out = dst[from:cap(dst)]
	w, at, sum := deflate.Begin(z.out, z.Codes), began, uint32(0)
	z.text = r.appendHeader(room[:0])
	for {
		n := min(len(refs), pieceRecords)
		z.text = r.append(z.text, refs[:n])
		if n == len(refs) {
			if z.text = end(z.text); z.textAt == began && len(z.text) <= minCompressed {
				return dst, z.text, false
			}
		}
		sum = crc32.Update(sum, crc32.IEEETable, z.text)
		if need := 2*len(z.text) + 64; len(z.out)-w.Len() < need { // a byte takes two at most
			dst = slices.Grow(dst[:from+w.Len()], need)
			z.out = dst[from:cap(dst)]
		}
		if w, at, ok = z.write(w, at, refs[:n]); !ok {
			return dst[:from], z.text, false
		}
		if refs = refs[n:]; len(refs) == 0 {
			break
		}
		z.textAt += len(z.text)
		z.text = z.text[:0]
	}
	w = w.Text(z.Codes, z.out, z.text[at-z.textAt:])
	size := z.textAt + len(z.text) - began
	return dst[:from+w.End(z.Codes, z.out, sum, size)], z.text, true
}

// begin prepares z for a list and returns the list's position.
func (z *listGzip) begin(r *records) int {
	z.listCodes, z.records = listCodesOf(r.form), r
	z.textAt += deflate.Window + 1
	z.last, z.game, z.middles = -1, nil, z.middles[:0]
	return z.textAt
}

func (z *listGzip) release() {
	z.textAt += len(z.text)
	z.records, z.out, z.text, z.game, z.number, z.texts, z.lastGame = nil, nil, nil, nil, nil, nil, nil
	listGzips.Put(z)
}

// write compresses the records of refs, from position at up to the end of the last record's pairs.
func (z *listGzip) write(w deflate.Writer, at int, refs []catalog.Ref) (_ deflate.Writer, end int, ok bool) {
	for i := range refs {
		ref := &refs[i]
		if ref.Game() != z.game && !z.enter(ref.Game()) {
			return w, at, false
		}
		w, at = z.writeDate(w, at, ref.Date())
		w, at = z.writeTod(w, at, ref.Tod())
		w, at = z.writeNumber(w, at, ref.Number())
		z.last = z.records.match(ref)
	}
	return w, at, true
}

// enter switches to the records of g. It reports whether there are codes for them.
func (z *listGzip) enter(g *catalog.Game) bool {
	t := z.records.enter(g)
	z.number = numberCodesOf(z.records.form, g.Digits)
	if t.known == nil || z.number == nil {
		return false
	}
	z.game, z.texts, z.index = g, t, z.records.ofRank[g.Rank()]
	for len(z.middles) <= z.index {
		z.middles = append(z.middles, 0)
	}
	return true
}

// near reports whether a match can reach back that far.
func near(back int) bool { return back <= deflate.Window }

// copied writes length bytes at position at as a match of the same text at from, which must be near.
func (z *listGzip) copied(w deflate.Writer, at, from, length int) deflate.Writer {
	return w.With(z.Lengths[length]).With(z.Distance(at - from)).Flush(z.out)
}

// alike writes part, whose first begin and last end bytes are the same as before's.
func (z *listGzip) alike(w deflate.Writer, part, before stretch, begin, end int) deflate.Writer {
	text := z.text[part.at-z.textAt:][:part.len]
	if back := part.at - before.at; begin >= deflate.ShortestMatch && near(back) {
		w = w.With(z.Lengths[begin]).With(z.Distance(back)).Flush(z.out)
		text = text[begin:]
	}
	back := part.at + part.len - before.at - before.len
	if end < deflate.ShortestMatch || !near(back) {
		return w.Text(z.Codes, z.out, text)
	}
	w = w.Text(z.Codes, z.out, text[:len(text)-end])
	return w.With(z.Lengths[end]).With(z.Distance(back)).Flush(z.out)
}

// writeDate writes the end of the previous record, and the date.
func (z *listGzip) writeDate(w deflate.Writer, at int, date models.Date) (_ deflate.Writer, end int) {
	text := &dateTexts[date-models.FirstDate]
	if z.last < 0 {
		n := len(z.records.header()) + len(layouts[z.records.form].date) + dateLen
		return w.Text(z.Codes, z.out, z.text[:n]), at + n
	}
	closing, before := &formTexts[z.records.form].ends[z.last], &z.ends[z.last]
	n, same, back := z.quote+int(closing.len), 0, at-before.at
	if near(back) {
		same = sameDate(&dateTexts[before.date-models.FirstDate], text)
	}
	if same >= deflate.ShortestMatch {
		w = w.With(z.Lengths[n+same]).With(z.Distance(back)).Flush(z.out)
	} else {
		same = 0
		w = w.Text(z.Codes, z.out, []byte(layouts[z.records.form].quote))
		var whole [len(text32{}.begin) + len(text32{}.rest)]byte
		w = w.Text(z.Codes, z.out, closing.appendTo(whole[:0]))
	}
	for _, char := range text[same:] {
		w = w.With(z.Literals[char]) // ten of them have 56 bits at most
	}
	before.at, before.date = at, date
	return w.Flush(z.out), at + n + dateLen
}

// sameDate is the length of the common prefix of two dates.
func sameDate(a, b *[dateLen]byte) int {
	if differ := binary.LittleEndian.Uint64(a[:]) ^ binary.LittleEndian.Uint64(b[:]); differ != 0 {
		return bits.TrailingZeros64(differ) / 8
	}
	switch {
	case a[8] != b[8]:
		return 8
	case a[9] != b[9]:
		return 9
	default:
		return dateLen
	}
}

// writeTod writes the time of day and the text before the first item of numbers.
func (z *listGzip) writeTod(w deflate.Writer, at int, tod models.Tod) (_ deflate.Writer, end int) {
	part, last := stretch{at, int(formTexts[z.records.form].tods[tod&7].len) + z.listCodes.numbers}, &z.tods[tod&7]
	if near(at - *last) {
		w = z.copied(w, at, *last, part.len)
	} else {
		w = z.alike(w, part, z.lastTod, len(layouts[z.records.form].tod), z.listCodes.numbers)
	}
	*last, z.lastTod = at, part
	return w, at + part.len
}

// writeNumber writes everything from the first item of numbers to the last pair.
func (z *listGzip) writeNumber(w deflate.Writer, at int, number uint64) (_ deflate.Writer, end int) {
	box := z.texts.known.box(number)
	codes := &z.number.boxes[box]
	fields := at + z.number.drawn
	middle := fields + int(codes.fields)
	end = middle + len(z.texts.long) + z.quote + int(codes.items)

	what := number<<16 | uint64(z.index)
	whatBox := uint64(box)<<16 | uint64(z.index)
	known, knownBox := slot(&z.numbers, what), slot(&z.boxes, whatBox)
	switch {
	case known.what == what && near(at-known.at) && end-at <= deflate.LongestMatch:
		w = z.copied(w, at, known.at, end-at)
	case knownBox.what == whatBox && near(fields-knownBox.at) && end-fields <= deflate.LongestMatch:
		w, _ = z.writeDrawn(w, at, number)
		w = z.copied(w, fields, knownBox.at, end-fields)
	default:
		var distance deflate.Code
		w, distance = z.writeDrawn(w, at, number)
		w = codes.sorted.addTo(z.constant(w, fields, &z.normalized, distance)).Flush(z.out)
		w = z.writeSum(w, fields+z.normalized.len+z.game.Digits, middle, codes, distance)
		for _, pairs := range codes.pairs {
			if pairs == 0 {
				break
			}
			w = pairs.addTo(w).Flush(z.out)
		}
	}
	known.what, known.at = what, at
	knownBox.what, knownBox.at = whatBox, fields
	z.drawn[z.game.Digits] = at
	z.middles[z.index] = middle
	z.lastGame, z.lastMiddle = z.texts.long, stretch{middle, end - int(codes.items) - middle}
	return w, end
}

// writeSum writes digits_sum with the text before it, and everything up to the first pair;
// middle is where the sum ends.
func (z *listGzip) writeSum(w deflate.Writer, at, middle int, codes *boxCodes, distance deflate.Code) deflate.Writer {
	end := middle + len(z.texts.long) + z.quote
	what := uint64(codes.sum)<<16 | uint64(z.index)
	known := slot(&z.sums, what)
	if known.what == what && near(at-known.at) && end-at <= deflate.LongestMatch {
		w = z.copied(w, at, known.at, end-at)
	} else {
		w = codes.sum.addTo(z.constant(w, at, &z.sum, distance)).Flush(z.out)
		w = z.writeMiddle(w, stretch{middle, end - middle})
	}
	known.what, known.at = what, at
	return w
}

// writeMiddle writes the text between the sum and the first pair.
func (z *listGzip) writeMiddle(w deflate.Writer, part stretch) deflate.Writer {
	if last := z.middles[z.index]; near(part.at - last) {
		return z.copied(w, part.at, last, part.len)
	}
	before, text := z.lastGame, z.texts.long
	begin, end := 0, 0
	for most := min(len(before), len(text)); begin < most && before[begin] == text[begin]; begin++ {
	}
	for most := min(len(before), len(text)) - begin; end < most && before[len(before)-1-end] == text[len(text)-1-end]; end++ {
	}
	return z.alike(w, part, z.lastMiddle, begin, end+z.quote)
}

// writeDrawn writes numbers and number_str. distance is the code of how far back the last numbers of that width stood;
// it has no bits if they are out of reach.
func (z *listGzip) writeDrawn(w deflate.Writer, at int, number uint64) (_ deflate.Writer, distance deflate.Code) {
	leading, last := &z.number.leading[number/1000], &z.number.last[number%1000]
	w = last.list.addTo(leading.list.addTo(w)).Flush(z.out)
	if back := at - z.drawn[z.game.Digits]; near(back) {
		distance = z.Distance(back)
	}
	w = z.constant(w, at+z.number.list, &z.listCodes.drawn, distance)
	return last.str.addTo(leading.str.addTo(w)).Flush(z.out), distance
}

// constant adds text that all records have between two fields, and that last stood as far back as distance says.
func (z *listGzip) constant(w deflate.Writer, at int, c *constantCodes, distance deflate.Code) deflate.Writer {
	switch {
	case c.match.N == 0:
		return c.text.addTo(w)
	case distance.N > 0:
		return w.With(c.match).With(distance)
	default:
		return w.Text(z.Codes, z.out, z.text[at-z.textAt:][:c.len])
	}
}
