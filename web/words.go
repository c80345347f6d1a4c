package web

import (
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/dustin/go-humanize"

	"lottery/models"
)

// thousands formats a number with separators: 12,345.
func thousands(v any) string {
	switch n := v.(type) {
	case int:
		return humanize.Comma(int64(n))
	case int64:
		return humanize.Comma(n)
	default:
		return fmt.Sprint(v)
	}
}

// counted formats a number of things: 1 request, 12,345 requests.
func counted(n any, one string) string { return thousands(n) + " " + noun(n, one) }

// noun returns one, or its plural unless n is 1.
func noun(n any, one string) string {
	if fmt.Sprint(n) == "1" {
		return one
	}
	return one + "s"
}

// humanDay formats a date for people: September 29, 2025.
func humanDay(d models.Date) string { return d.Time().Format("January 2, 2006") }

// moment formats a time for people, in UTC: September 29, 2025, 14:30 UTC.
func moment(t time.Time) string { return t.UTC().Format("January 2, 2006, 15:04 UTC") }

// ago says roughly how long before now t was.
func ago(now, t time.Time) string {
	switch d := now.Sub(t); {
	case d < 2*time.Minute:
		return "just now"
	case d < 2*time.Hour:
		return fmt.Sprintf("%d minutes ago", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d hours ago", int(d.Hours()))
	default:
		return fmt.Sprintf("%d days ago", int(d.Hours()/24))
	}
}

func planName(p models.Plan) string { return titled(string(p)) }

// titled returns s with its first letter in upper case.
func titled(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	if n == 0 {
		return s
	}
	return string(unicode.ToUpper(r)) + s[n:]
}

// sentence turns an error message into a sentence, with a capital letter and a full stop.
func sentence(s string) string {
	s = titled(s)
	if s != "" && !strings.HasSuffix(s, ".") {
		s += "."
	}
	return s
}
