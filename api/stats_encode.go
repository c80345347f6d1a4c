package api

import (
	"encoding/json"
	"math"
	"strconv"

	"lottery/api/deflate"
	"lottery/models"
	"lottery/models/catalog"
)

// statsEncoder writes statistics, and marks the constant texts between values, which
// deflate.AppendMarked compresses by.
type statsEncoder struct {
	marking          bool // whether to record marks
	marks            []deflate.Mark
	shares, expected repeated
}

// Kinds of constant text: before a value, or after the last value of an entry.
const (
	beforeCount = iota
	beforeQuotedCount
	beforeShare
	beforeExpected
	beforePositions
	beforeDrawsSince
	beforeLastDate
	afterShares
	afterDate
	afterPositions
)

// between appends a constant text between two values; kind identifies the text.
func (x *statsEncoder) between(b []byte, kind uint8, text string) []byte {
	if x.marking {
		x.marks = append(x.marks, deflate.Mark{At: int32(len(b)), Kind: kind})
	}
	return append(b, text...)
}

func (x *statsEncoder) appendShares(b []byte, count int, share, expected float64) []byte {
	b = strconv.AppendInt(b, int64(count), 10)
	b = x.shares.append(x.between(b, beforeShare, `,"share":`), share)
	return x.expected.append(x.between(b, beforeExpected, `,"expected_share":`), expected)
}

// append appends what encoding/json makes of s, in a quarter of the time: statistics of a range of dates are
// computed for each request.
func (x *statsEncoder) append(b []byte, s *catalog.Stats) []byte {
	b = appendText(append(b, `{"game":`...), s.Game)
	b = appendText(append(b, `,"game_name":`...), s.GameName)
	b = appendText(append(b, `,"game_type":`...), s.GameType)
	b = strconv.AppendInt(append(b, `,"total_draws":`...), int64(s.TotalDraws), 10)
	b = appendDate(append(b, `,"date_range":{"first":`...), s.DateRange.First)
	b = appendDate(append(b, `,"last":`...), s.DateRange.Last)
	b = append(b, '}')

	b = appendList(append(b, `,"top_sums":`...), s.TopSums, func(b []byte, e *catalog.SumStat) []byte {
		b = strconv.AppendInt(append(b, `{"sum":`...), int64(e.Sum), 10)
		b = x.appendShares(x.between(b, beforeCount, `,"count":`), e.Count, e.Share, e.ExpectedShare)
		return x.between(b, afterShares, `}`)
	})
	b = appendList(append(b, `,"hot_numbers":`...), s.HotNumbers, func(b []byte, e *catalog.NumberStat) []byte {
		b = append(append(b, `{"number":"`...), e.Number...)
		b = x.appendShares(x.between(b, beforeQuotedCount, `","count":`), e.Count, e.Share, e.ExpectedShare)
		b = appendDate(x.between(b, beforeLastDate, `,"last_date":`), &e.LastDate)
		return x.between(b, afterDate, `}`)
	})
	b = appendList(append(b, `,"hot_boxes":`...), s.HotBoxes, func(b []byte, e *catalog.BoxStat) []byte {
		b = append(append(b, `{"normalized":"`...), e.Normalized...)
		b = x.appendShares(x.between(b, beforeQuotedCount, `","count":`), e.Count, e.Share, e.ExpectedShare)
		b = appendDate(x.between(b, beforeLastDate, `,"last_date":`), &e.LastDate)
		return x.between(b, afterDate, `}`)
	})
	b = appendList(append(b, `,"hot_digits":`...), s.HotDigits, func(b []byte, e *catalog.DigitStat) []byte {
		b = append(append(b, `{"digit":"`...), e.Digit...)
		b = x.appendShares(x.between(b, beforeQuotedCount, `","count":`), e.Count, e.Share, e.ExpectedShare)
		b = x.between(b, beforePositions, `,"by_position":`)
		b = appendList(b, e.ByPosition, func(b []byte, n *int) []byte { return strconv.AppendInt(b, int64(*n), 10) })
		return x.between(b, afterPositions, `}`)
	})
	b = appendList(append(b, `,"overdue_digits":`...), s.OverdueDigits, func(b []byte, e *catalog.OverdueDigit) []byte {
		b = append(append(b, `{"digit":"`...), e.Digit...)
		b = x.between(b, beforeDrawsSince, `","draws_since":`)
		if e.DrawsSince == nil {
			b = append(b, "null"...)
		} else {
			b = strconv.AppendInt(b, int64(*e.DrawsSince), 10)
		}
		b = appendDate(x.between(b, beforeLastDate, `,"last_date":`), e.LastDate)
		return x.between(b, afterDate, `}`)
	})
	return append(b, '}')
}

// appendText leaves all but plain texts to encoding/json, which escapes some characters in its own way.
func appendText(b []byte, text string) []byte {
	plain := true
	for _, c := range []byte(text) {
		plain = plain && (c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == ' ' || c == '-')
	}
	if plain {
		return append(append(append(b, '"'), text...), '"')
	}
	quoted, err := json.Marshal(text)
	if err != nil {
		return append(b, `""`...) // marshaling a string does not fail
	}
	return append(b, quoted...)
}

// appendList appends a JSON array.
func appendList[T any](b []byte, list []T, one func(b []byte, e *T) []byte) []byte {
	b = append(b, '[')
	for i := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = one(b, &list[i])
	}
	return append(b, ']')
}

// repeated is the last share written, and where: neighbours in a list often have the same one, and copying it is faster.
type repeated struct {
	share    float64
	from, to int
}

func (r *repeated) append(b []byte, share float64) []byte {
	if r.to > 0 && share == r.share {
		return append(b, b[r.from:r.to]...)
	}
	r.share, r.from = share, len(b)
	b = appendNumber(b, share)
	r.to = len(b)
	return b
}

// appendNumber appends a share like encoding/json: the shortest exact text, with an exponent below 10⁻⁶.
func appendNumber(b []byte, share float64) []byte {
	if share != 0 && math.Abs(share) < 1e-6 {
		b = strconv.AppendFloat(b, share, 'e', -1, 64)
		if n := len(b); b[n-3] == '-' && b[n-2] == '0' { // e-07 is e-7
			b[n-2] = b[n-1]
			b = b[:n-1]
		}
		return b
	}
	return strconv.AppendFloat(b, share, 'f', -1, 64)
}

func appendDate(b []byte, date *models.Date) []byte {
	if date == nil {
		return append(b, "null"...)
	}
	return append(append(append(b, '"'), dateTexts[*date-models.FirstDate][:]...), '"')
}
