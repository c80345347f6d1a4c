package api

import (
	"strconv"
	"strings"
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
func acceptedForm(accept []string, known form) (best form, ok bool) {
	if blank(accept) {
		return formJSON, true
	}
	if len(accept) == 1 && (accept[0] == "*/*" || accept[0] == mediaTypes[formJSON]) {
		return formJSON, true
	}
	bestQ := 0.0
	for f := range known {
		if q := quality(accept, mediaTypes[f], mediaSpecificity); q > bestQ {
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

// quality is the q of the most specific range that matches name, or 0 where none does.
func quality(header []string, name string, specificity func(pattern, name string) int) float64 {
	q, most := 0.0, 0
	for _, line := range header {
		for item := range strings.SplitSeq(line, ",") {
			pattern, parameters, _ := strings.Cut(item, ";")
			s := specificity(strings.ToLower(strings.TrimSpace(pattern)), name)
			if s > most {
				most, q = s, qValue(parameters)
			}
		}
	}
	return q
}

// qValue reads q=0.5 out of a range's parameters; 1 if it is not there.
func qValue(parameters string) float64 {
	for p := range strings.SplitSeq(parameters, ";") {
		name, value, _ := strings.Cut(strings.TrimSpace(p), "=")
		if strings.EqualFold(name, "q") {
			if q, err := strconv.ParseFloat(value, 64); err == nil && q >= 0 && q <= 1 {
				return q
			}
			return 0
		}
	}
	return 1
}

func mediaSpecificity(pattern, name string) int {
	kind, _, _ := strings.Cut(name, "/")
	switch pattern {
	case name:
		return 3
	case kind + "/*":
		return 2
	case "*/*", "*":
		return 1
	default:
		return 0
	}
}

func encodingSpecificity(pattern, name string) int {
	switch pattern {
	case name:
		return 2
	case "*":
		return 1
	default:
		return 0
	}
}

// named is the specificity of names alone.
func named(pattern, name string) int {
	if pattern == name {
		return 1
	}
	return 0
}
