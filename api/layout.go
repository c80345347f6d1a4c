package api

import (
	"strconv"
	"unicode/utf8"

	"lottery/models/catalog"
)

// layout defines how draw records are written, in the contract's field order.
type layout struct {
	header, searchHeader string // before the first record
	// Text before each field; the first field is the date.
	date, tod, numbers, drawn, normalized, sum, game, name, gameType, pairs string
	quote, separator                                                        string // around and between the items of a list
	appendName                                                              func(b []byte, name string) []byte
	end, box, exact                                                         string // after the last field; in a search, box or exact
	terminator                                                              string // after each record
}

// layouts has the layout of each form. JSON follows RFC 8259, CSV RFC 4180.
var layouts = [forms]layout{
	formJSON: jsonLayout(`{"draws":[`, ","),
	formCSV: {
		header:       "date,tod,numbers,number_str,normalized,digits_sum,game,game_name,game_type,pairs_2dp\r\n",
		searchHeader: "date,tod,numbers,number_str,normalized,digits_sum,game,game_name,game_type,pairs_2dp,match\r\n",
		tod:          ",", numbers: ",", drawn: ",", normalized: ",", sum: ",", game: ",", name: ",", gameType: ",", pairs: ",",
		separator: " ", appendName: appendCSVField,
		box: ",box", exact: ",exact", terminator: "\r\n",
	},
	formNDJSON: jsonLayout("", "\n"),
}

func jsonLayout(header, terminator string) layout {
	return layout{
		header: header, searchHeader: header,
		date: `{"date":"`, tod: `","tod":"`, numbers: `","numbers":[`, drawn: `],"number_str":"`, normalized: `","normalized":"`,
		sum: `","digits_sum":`, game: `,"game":"`, name: `","game_name":`, gameType: `,"game_type":"`, pairs: `","pairs_2dp":[`,
		quote: `"`, separator: ",", appendName: appendJSONString,
		end: `]}`, box: `],"match":"box"}`, exact: `],"match":"exact"}`, terminator: terminator,
	}
}

// appendDrawn appends numbers and number_str.
func (l *layout) appendDrawn(b []byte, d *digits) []byte {
	b = append(b, l.numbers...)
	for i := range d.n {
		if i > 0 {
			b = append(b, l.separator...)
		}
		b = append(b, l.quote...)
		b = append(b, d.drawn[i])
		b = append(b, l.quote...)
	}
	b = append(b, l.drawn...)
	return append(b, d.drawn[:d.n]...)
}

// appendBox appends normalized and digits_sum, which are the same for all orders of the same digits.
func (l *layout) appendBox(b []byte, d *digits) []byte {
	b = append(b, l.normalized...)
	b = append(b, d.sorted[:d.n]...)
	b = append(b, l.sum...)
	return strconv.AppendInt(b, int64(d.sum), 10)
}

// appendGame appends game, game_name and game_type, and the text before the pairs.
func (l *layout) appendGame(b []byte, g *catalog.Game) []byte {
	b = append(b, l.game...)
	b = append(b, g.ID...) // [a-z0-9-]: nothing to escape
	b = append(b, l.name...)
	b = l.appendName(b, g.Name)
	b = append(b, l.gameType...)
	b = append(b, g.Type...)
	return append(b, l.pairs...)
}

// appendPairs appends the distinct pairs in ascending order. The digits are sorted, so equal ones are adjacent.
func (l *layout) appendPairs(b []byte, d *digits) []byte {
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
				b = append(b, l.separator...)
			}
			first = false
			b = append(b, l.quote...)
			b = append(b, d.sorted[i], d.sorted[j])
			b = append(b, l.quote...)
		}
	}
	return b
}

// appendJSONString appends s as a JSON string (RFC 8259).
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

// appendCSVField appends s, quoted if RFC 4180 requires it.
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
