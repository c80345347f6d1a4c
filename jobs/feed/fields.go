package feed

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// The longest name and value of an add-on, in bytes.
const (
	MaxAddonName  = 64
	maxAddonValue = 200
)

// ValidAddonName tells whether s can name an add-on: plain text, not empty, at most MaxAddonName bytes.
func ValidAddonName(s string) bool { return s != "" && len(s) <= MaxAddonName && printable(s) }

// Kebab is the words of s in lower case, joined by hyphens, as game ids are made: "Pick 3" → pick-3.
// Whatever is no ASCII letter or digit separates words.
func Kebab(s string) string {
	words := strings.FieldsFunc(strings.ToLower(s), func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9')
	})
	return strings.Join(words, "-")
}

// Why a line cannot be split into fields. A line that ends within quotes may be the beginning of a field with a line
// break, or lack a quote: both are told.
const (
	faultQuotes   = "the quotes do not pair up"
	faultOpenLine = "the line ends within quotes: line breaks within quotes are not read, put the whole row on one line, or add the quote that is missing"
)

// SplitFields appends the comma-separated fields of line to fields. Fields may be quoted, with doubled quotes
// inside (RFC 4180), and spaces may stand around the quotes. fault, if not empty, is why the line cannot be split.
func SplitFields(fields []string, line string) (_ []string, fault string) {
	if strings.IndexByte(line, '"') < 0 {
		for {
			field, rest, more := strings.Cut(line, ",")
			fields = append(fields, field)
			if !more {
				return fields, ""
			}
			line = rest
		}
	}
	for {
		field, rest, more, fault := nextField(line)
		if fault != "" {
			return fields, fault
		}
		fields = append(fields, field)
		if !more {
			return fields, ""
		}
		line = rest
	}
}

// nextField is the first field of line; more tells whether a comma, and so another field, follows.
func nextField(line string) (field, rest string, more bool, fault string) {
	opened := strings.TrimLeft(line, " \t")
	if !strings.HasPrefix(opened, `"`) {
		field, rest, more = strings.Cut(line, ",")
		if strings.Contains(field, `"`) {
			fault = faultQuotes
		}
		return field, rest, more, fault
	}
	opened = opened[1:]
	for from := 0; ; {
		end := strings.IndexByte(opened[from:], '"')
		if end < 0 {
			return "", "", false, faultOpenLine
		}
		end += from
		if strings.HasPrefix(opened[end+1:], `"`) {
			from = end + 2
			continue
		}
		after, rest, more := strings.Cut(opened[end+1:], ",")
		if strings.Trim(after, " \t") != "" {
			fault = faultQuotes
		}
		return strings.ReplaceAll(opened[:end], `""`, `"`), rest, more, fault
	}
}

// Undivided is what made one field of a row, and what to do, to stand behind what was found; "" = nothing that is known.
func Undivided(fields []string, row string) string {
	switch {
	case len(fields) != 1:
		return ""
	case strings.Contains(fields[0], ","):
		return ", and quotes stand around all of it: leave them out"
	default:
		return separated(row)
	}
}

// separated tells, of a row that has not the fields that it should have, what stands between them instead of commas, and
// what to do; "" = nothing that is known.
func separated(row string) string {
	for _, separator := range []struct{ mark, name string }{{";", "semicolons"}, {"\t", "tabs"}, {"|", "bars"}} {
		if strings.Count(row, separator.mark) > strings.Count(row, ",") {
			return ", and its fields are separated by " + separator.name + ": save it with commas"
		}
	}
	return ""
}

// AllBlank tells whether the fields hold nothing but spaces: a blank line as spreadsheets write it.
func AllBlank(fields []string) bool {
	for _, f := range fields {
		if strings.TrimSpace(f) != "" {
			return false
		}
	}
	return true
}

// BeginsWithDigit tells whether the first character of s, spaces and quotes aside, is a digit of any script: so begin the
// rows that begin with a date. Those that are not ASCII make no date, but their line is no title.
func BeginsWithDigit(s string) bool {
	s = strings.TrimLeft(s, " \t\"")
	first, _ := utf8.DecodeRuneInString(s)
	return unicode.IsDigit(first)
}

// Words is what stands in line between separators of any kind, spaces and quotes among them: so a draw is found in a line
// that has not the form's own.
func Words(line string) []string {
	return strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(`,;|"'`, r) || unicode.IsSpace(r) })
}

// oneDigit tells whether s is exactly one ASCII digit.
func oneDigit(s string) bool { return len(s) == 1 && s[0] >= '0' && s[0] <= '9' }

// printable tells whether s is valid UTF-8 without control characters.
func printable(s string) bool {
	for _, r := range s {
		if r == utf8.RuneError || unicode.IsControl(r) {
			return false
		}
	}
	return true
}
