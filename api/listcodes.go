package api

import (
	"strings"
	"sync"

	"lottery/api/deflate"
	"lottery/models"
	"lottery/models/catalog"
)

// packed is up to 56 bits of codes that are written together, above their number in the lowest byte.
type packed uint64

func pack(codes []deflate.Code) (p packed) {
	n := uint(0)
	for _, c := range codes {
		p |= packed(c.Bits) << (n + 8)
		n += c.N
	}
	if n > 56 {
		panic("codes that are added together are too long") // TestListGzip makes all of them
	}
	return p | packed(n)
}

func (p packed) addTo(w deflate.Writer) deflate.Writer { return w.Add(uint64(p>>8), uint(p&0xff)) }

// listCodes is the codes that lists of a form are compressed with.
type listCodes struct {
	*deflate.Codes
	once                   sync.Once
	quote, numbers         int // bytes around each item of a list, and between a time of day and the first number
	drawn, normalized, sum constantCodes
}

// constantCodes encodes a text that all records have between two fields.
type constantCodes struct {
	len   int
	match deflate.Code // of its length; of no bits if the text is too short for a match
	text  packed       // for texts too short for a match
}

// numberCodes encodes numbers of a given width.
type numberCodes struct {
	once          sync.Once
	leading, last []digitCodes // by the digits before the last three, and by the last three
	boxes         []boxCodes   // by box, as in numberTexts
	list, drawn   int          // bytes of the items of numbers, and from the first of them to the end of number_str
}

// digitCodes encodes digits as items of numbers, and in number_str.
type digitCodes struct{ list, str packed }

// boxCodes encodes what all orders of the same digits share.
type boxCodes struct {
	sorted, sum   packed
	pairs         [3]packed // all items, without the outermost quotes
	fields, items uint8     // bytes of normalized and digits_sum including the text before them, and of all pairs
}

var (
	codesByForm  [forms]listCodes
	codesByWidth [forms][maxKnownDigits + 1]numberCodes
)

// listCodesOf returns the codes of a form.
func listCodesOf(f form) *listCodes {
	f = f.ofFields()
	c := &codesByForm[f]
	c.once.Do(func() {
		l := &layouts[f]
		c.Codes = newListCodes(l)
		c.quote, c.numbers = len(l.quote), len(l.numbers+l.quote)
		c.drawn, c.normalized, c.sum = c.constant(l.quote+l.drawn), c.constant(l.normalized), c.constant(l.sum)
	})
	return c
}

func (c *listCodes) constant(text string) constantCodes {
	if len(text) > deflate.ShortestMatch {
		return constantCodes{len: len(text), match: c.Lengths[len(text)]}
	}
	return constantCodes{len: len(text), text: pack(c.literals(text))}
}

// numberCodesOf returns the codes of numbers of n digits, or nil if there are none: a single digit has no pairs, and
// many digits have too many boxes.
func numberCodesOf(f form, n int) *numberCodes {
	if n < 2 || n > maxKnownDigits {
		return nil
	}
	f = f.ofFields()
	t := &codesByWidth[f][n]
	t.once.Do(func() { t.make(&layouts[f], listCodesOf(f), numberTextsOf(f, n), n) })
	return t
}

func (t *numberCodes) make(l *layout, c *listCodes, texts *numberTexts, n int) {
	between := l.quote + l.separator + l.quote
	last := min(n, 3)
	before := l.numbers + l.quote
	t.leading = []digitCodes{{}}
	if n > last {
		t.leading = t.leading[:0]
		for number := range models.PowerOf10(n - last) {
			list, str := drawnTexts(l, number, n-last)
			t.leading = append(t.leading, digitCodes{pack(c.within(before, list+between)), pack(c.literals(str))})
		}
		before += "?" + between // stands for any digit
	}
	for number := range models.PowerOf10(last) {
		list, str := drawnTexts(l, number, last)
		t.last = append(t.last, digitCodes{pack(c.within(before, list)), pack(c.literals(str))})
	}
	t.boxes = make([]boxCodes, len(texts.boxes))
	var d digits
	for number := range models.PowerOf10(n) {
		box := &t.boxes[texts.box(number)]
		if box.items > 0 {
			continue
		}
		d.set(number, n)
		fields, pairs := string(l.appendBox(nil, &d)), string(l.appendPairs(nil, &d))
		sorted, sum, _ := strings.Cut(strings.TrimPrefix(fields, l.normalized), l.sum)
		pairs = pairs[len(l.quote) : len(pairs)-len(l.quote)]
		*box = boxCodes{pack(c.literals(sorted)), pack(c.literals(sum)), packAll(c.within(l.pairs+l.quote, pairs)), uint8(len(fields)), uint8(len(pairs))}
	}
	list, str := drawnTexts(l, 0, n)
	t.list, t.drawn = len(list), len(list+l.quote+l.drawn+str)
}

// drawnTexts returns a number of n digits as items of numbers, without the outermost quotes, and as number_str.
func drawnTexts(l *layout, number uint64, n int) (list, str string) {
	var d digits
	d.set(number, n)
	list, str, _ = strings.Cut(strings.TrimPrefix(string(l.appendDrawn(nil, &d)), l.numbers+l.quote), l.quote+l.drawn)
	return list, str
}

// packAll packs codes into as few values as possible.
func packAll(codes []deflate.Code) (all [3]packed) {
	for i := range all {
		end, n := 0, uint(0)
		for end < len(codes) && n+codes[end].N <= 56 {
			n += codes[end].N
			end++
		}
		all[i], codes = pack(codes[:end]), codes[end:]
	}
	if len(codes) > 0 {
		panic("the codes of a box are too long") // TestListGzip makes all of them
	}
	return all
}

// literals returns the codes of a text as literals.
func (c *listCodes) literals(text string) (all []deflate.Code) {
	for _, char := range []byte(text) {
		all = append(all, c.Literals[char])
	}
	return all
}

// within returns the shortest codes of a text that follows before; matches may reach back into both.
func (c *listCodes) within(before, text string) (codes []deflate.Code) {
	text = before + text
	type step struct {
		bits             uint // from here to the end
		length, distance int  // of a match; a literal has length 1 and distance 0
	}
	steps := make([]step, len(text)+1)
	for at := len(text) - 1; at >= len(before); at-- {
		best := step{c.Literals[text[at]].N + steps[at+1].bits, 1, 0}
		for distance := 1; distance <= at; distance++ {
			length := 0
			for at+length < len(text) && text[at+length-distance] == text[at+length] {
				if length++; length < deflate.ShortestMatch {
					continue
				}
				if n := c.Lengths[length].N + c.Distance(distance).N + steps[at+length].bits; n < best.bits {
					best = step{n, length, distance}
				}
			}
		}
		steps[at] = best
	}
	for at := len(before); at < len(text); at += steps[at].length {
		if s := steps[at]; s.distance == 0 {
			codes = append(codes, c.Literals[text[at]])
		} else {
			codes = append(codes, c.Lengths[s.length], c.Distance(s.distance))
		}
	}
	return codes
}

// newListCodes returns codes for lists of a layout, built from rough counts of each symbol in a thousand records. Real
// counts vary: a list of one searched number is nearly all repetition, the newest draws about half.
func newListCodes(l *layout) *deflate.Codes {
	var literals [deflate.LiteralSymbols]int
	var distances [deflate.DistanceSymbols]int
	for i := range literals {
		literals[i] = 1
	}
	for char := ' '; char <= '~'; char++ {
		literals[char] = 10
	}
	for _, char := range "abcdefghijklmnopqrstuvwxyz_:," { // in the first record
		literals[char] = 30
	}
	for digit := '0'; digit <= '9'; digit++ {
		literals[digit] = 1000
	}
	literals['-'], literals['"'] = 250, 80
	for i := range distances {
		distances[i] = 60
	}
	between := l.quote + l.separator + l.quote
	if len(between) >= deflate.ShortestMatch { // it stood before the previous digit or pair
		literals[deflate.LengthSymbol(len(between))], literals[deflate.LengthSymbol(len(between)+1)] = 1500, 500
		for distance, times := range map[int]int{
			len(between) + 1: 700, len(between) + 2: 400, 2*len(between) + 4: 350,
			len(l.numbers+l.quote) + 1: 600, len(l.pairs+l.quote) + 2: 450,
		} {
			distances[deflate.DistanceSymbol(distance)] += times
		}
	} else {
		literals[' '], literals[','] = 2500, 1300
	}

	match := func(text string, times int) {
		if len(text) >= deflate.ShortestMatch {
			literals[deflate.LengthSymbol(len(text))] += times
		}
	}
	for _, constant := range []string{l.quote + l.drawn, l.normalized, l.sum} {
		match(constant, 500)
	}
	for tod := models.Tod(1); int(tod) <= models.TodCount; tod++ {
		match(l.tod+tod.String()+l.numbers+l.quote, 170)
	}
	for _, date := range []string{"2006-01-", "2006-01-0", "2006-01-02"} {
		match(l.quote+l.end+l.terminator+l.date+date, 300)
	}
	var d digits
	d.set(1234, 4)
	drawn, box, pairs := string(l.appendDrawn(nil, &d)), string(l.appendBox(nil, &d)), string(l.appendPairs(nil, &d))
	middle := string(l.appendGame(nil, &catalog.Game{ID: "xx-pick-4", Name: "Somewhere Pick 4", Type: "pick4"}))
	for symbol := deflate.LengthSymbol(len(middle) - 20); symbol < deflate.LiteralSymbols; symbol++ { // names come in all lengths
		literals[symbol] += 150
	}
	match(l.sum+"12"+middle, 400)
	match(box+middle+pairs, 200)
	match(drawn+box+middle+pairs, 400)
	record := len("2006-01-02" + l.tod + "Evening" + drawn + box + middle + pairs + l.end + l.terminator + l.date)
	for records, times := range map[int]int{1: 2500, 2: 450, 4: 150} { // how far back
		distances[deflate.DistanceSymbol(records*record)] += times
	}
	return deflate.NewCodes(&literals, &distances)
}
