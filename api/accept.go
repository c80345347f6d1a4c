package api

import (
	"strings"

	"lottery/api/accept"
)

// form is how an answer is written.
type form uint8

const (
	formJSON form = iota
	formCSV
	formNDJSON
	forms // how many there are
)

var (
	formNames  = [forms]string{"json", "csv", "ndjson"}
	mediaTypes = [forms]string{"application/json", "text/csv", "application/x-ndjson"}
	// Shared header values: nobody appends to them.
	contentTypes = [forms][]string{{"application/json; charset=utf-8"}, {"text/csv; charset=utf-8; header=present"}, {"application/x-ndjson; charset=utf-8"}}
)

// acceptedForm is the form that the Accept headers like best among the first known ones; ties go to the
// earlier form. ok is false where they allow none (RFC 9110, 12.5.1).
func acceptedForm(header []string, known form) (best form, ok bool) {
	if blank(header) {
		return formJSON, true
	}
	if len(header) == 1 && (header[0] == "*/*" || header[0] == mediaTypes[formJSON]) {
		return formJSON, true
	}
	bestQ := 0.0
	for f := range known {
		if q := accept.Quality(header, mediaTypes[f], accept.Media); q > bestQ {
			best, bestQ = f, q
		}
	}
	return best, bestQ > 0
}

// blank tells whether a header names nothing, which is no wish.
func blank(header []string) bool {
	for _, line := range header {
		if strings.Trim(line, ", \t") != "" {
			return false
		}
	}
	return true
}
