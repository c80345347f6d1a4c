package feed

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The longest name and value of an add-on, in bytes.
const (
	MaxAddonName  = 64
	maxAddonValue = 200
)

// ValidAddonName reports whether s can name an add-on: plain text, not empty, at most MaxAddonName bytes.
func ValidAddonName(s string) bool { return s != "" && len(s) <= MaxAddonName && printable(s) }

// Kebab returns the words of s in lower case, joined by hyphens, as in game ids: "Pick 3" → pick-3. Everything except
// ASCII letters and digits separates words.
func Kebab(s string) string {
	words := strings.FieldsFunc(strings.ToLower(s), func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9')
	})
	return strings.Join(words, "-")
}

// Why a line cannot be split into fields. A line that ends inside quotes may contain a line break or lack a quote; the
// message mentions both.
const (
	faultQuotes   = "the quotes do not pair up"
	faultOpenLine = "the line ends within quotes: line breaks within quotes are not read, put the whole row on one line, or add the quote that is missing"
)

// SplitFields appends the comma-separated fields of line to fields. Fields may be quoted, with doubled quotes inside
// (RFC 4180), and spaces may surround the quotes. fault, if not empty, says why the line cannot be split.
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

// nextField returns the first field of line; more is set if a comma, and so another field, follows.
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

// Undivided explains why a row has only one field, and what to do about it, as an addition to an error message; "" =
// unknown.
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

// separated says what separates a row's values if not commas, and what to do about it; "" = unknown.
func separated(row string) string {
	for _, separator := range []struct{ mark, name string }{{";", "semicolons"}, {"\t", "tabs"}, {"|", "bars"}} {
		if strings.Count(row, separator.mark) > strings.Count(row, ",") {
			return ", and its fields are separated by " + separator.name + ": save it with commas"
		}
	}
	return ""
}

// allBlank reports whether the fields hold nothing but spaces: a blank line as spreadsheets write it.
func allBlank(fields []string) bool { return filled(fields) == 0 }

// filled returns how many fields are not blank.
func filled(fields []string) (n int) {
	for _, field := range fields {
		if strings.TrimSpace(field) != "" {
			n++
		}
	}
	return n
}

// BeginsWithDigit reports whether the first character of s, apart from stray ones, is a digit of any script, as in rows
// that begin with a date. Digits outside ASCII make no valid date, but their line is not a title either.
func BeginsWithDigit(s string) bool {
	first, _ := utf8.DecodeRuneInString(strings.TrimLeftFunc(s, stray))
	return unicode.IsDigit(first)
}

// Words returns what is between the separators of any kind in line, stray characters included, if it has a letter or a
// digit. It serves to find a draw in a line that is not in the form's own format.
func Words(line string) []string {
	words := strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(",;|\uff0c\uff1b", r) || stray(r) })
	return slices.DeleteFunc(words, func(word string) bool {
		return !strings.ContainsFunc(word, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) })
	})
}

// FaultMarkup is why a line InMarkup cannot be read.
const FaultMarkup = "this seems to be a row within HTML or other markup: save the file as plain text"

// prose matches what begins with a digit in a sentence: a time of the clock, or a number and a word in lower case.
var prose = regexp.MustCompile(`^\W*\d{1,2}:\d\d|\s[a-z]`)

// InMarkup reports whether a line that is no row may be one within the markup of a web page (<td>433</td>), a table or
// list of Markdown (| 433 |, **433**), or an array (["433"]): two or more values begin with a digit.
func InMarkup(line string) bool {
	if !strings.ContainsAny(line, "<|`[{") && !strings.Contains(line, "**") {
		return false
	}
	values := 0
	for _, value := range strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune("<>|`[]{}*,;\"'", r) }) {
		if BeginsWithDigit(value) && !prose.MatchString(value) {
			values++
		}
	}
	return values >= 2
}

// Bare returns s without the stray characters around it.
func Bare(s string) string { return strings.TrimFunc(s, stray) }

// stray reports whether spreadsheets and web pages may leave r around a value: spaces of any kind, also of no width;
// quotes, with the backslash of \"; the = of ="088"; and bytes that are not UTF-8, such as the no-break space of a file
// saved as Latin-1.
func stray(r rune) bool {
	return strings.ContainsRune("\"'=\\\u2018\u2019\u201c\u201d", r) || r == utf8.RuneError ||
		unicode.IsSpace(r) || unicode.IsControl(r) || unicode.Is(unicode.Cf, r)
}

// oneDigit reports whether s is exactly one ASCII digit.
func oneDigit(s string) bool { return len(s) == 1 && s[0] >= '0' && s[0] <= '9' }

// printable reports whether s is valid UTF-8 without control characters.
func printable(s string) bool {
	for _, r := range s {
		if r == utf8.RuneError || unicode.IsControl(r) {
			return false
		}
	}
	return true
}
