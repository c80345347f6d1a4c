// Package accept parses the headers by which clients state what they accept (RFC 9110, 12.4 and 12.5).
package accept

import (
	"strconv"
	"strings"
)

// Quality returns the q value of the most specific range that matches name, or 0 if none does. name is in lower case.
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

// qValue returns the q value among a range's parameters; 1 if there is none, 0 if it is invalid.
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

// Media is how specifically a range of Accept matches a media type; 0 = not at all.
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

// Encoding is how specifically a range of Accept-Encoding matches a coding; 0 = not at all.
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

// Named is 1 if a range is the name itself, not a wildcard; else 0.
func Named(pattern, name string) int {
	if pattern == name {
		return 1
	}
	return 0
}
