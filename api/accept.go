package api

import (
	"strings"

	"lottery/api/accept"
)

// form is the format of an answer.
type form uint8

const (
	formJSON form = iota
	formCSV
	formNDJSON
	forms // the number of forms
)

var (
	formNames  = [forms]string{"json", "csv", "ndjson"}
	mediaTypes = [forms]string{"application/json", "text/csv", "application/x-ndjson"}
	// Header values are shared between answers and must not be changed.
	contentTypes = [forms][]string{{"application/json; charset=utf-8"}, {"text/csv; charset=utf-8; header=present"}, {"application/x-ndjson; charset=utf-8"}}
)

// ofFields returns the form that shares the texts and codes of fields: NDJSON differs from JSON only between records.
func (f form) ofFields() form {
	if f == formNDJSON {
		return formJSON
	}
	return f
}

// acceptedForm returns which of the forms before end the Accept headers prefer; ties go to the earlier form. ok is
// false if they allow none (RFC 9110, 12.5.1).
func acceptedForm(header []string, end form) (best form, ok bool) {
	if blank(header) {
		return formJSON, true
	}
	if len(header) == 1 && (header[0] == "*/*" || header[0] == mediaTypes[formJSON]) {
		return formJSON, true
	}
	bestQ := 0.0
	for f := range end {
		if q := accept.Quality(header, mediaTypes[f], accept.Media); q > bestQ {
			best, bestQ = f, q
		}
	}
	return best, bestQ > 0
}

// blank reports whether a header lists nothing, and so expresses no preference.
func blank(header []string) bool {
	for _, line := range header {
		if strings.Trim(line, ", \t") != "" {
			return false
		}
	}
	return true
}
