// Package accept reads the headers by which clients say what they take (RFC 9110, 12.4 and 12.5).
package accept

import (
	"strconv"
	"strings"
)

// Quality is the q of the most specific range that matches name, or 0 where none does. The name is in lower case.
func Quality(header []string, name string, specificity func(pattern, name string) int) float64 {
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

// Media is how well a range of Accept names a media type; 0 = not at all.
func Media(pattern, name string) int {
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

// Encoding is how well a range of Accept-Encoding names a coding; 0 = not at all.
func Encoding(pattern, name string) int {
	switch pattern {
	case name:
		return 2
	case "*":
		return 1
	default:
		return 0
	}
}

// Named is how well a range names a thing by its name alone: 1, or 0 = not at all.
func Named(pattern, name string) int {
	if pattern == name {
		return 1
	}
	return 0
}
