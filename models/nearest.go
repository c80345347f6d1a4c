package models

import (
	"cmp"
	"slices"
	"strings"
)

// Nearest is up to three of candidates (in lower case) that word was probably meant to be, nearest first, equally
// near ones in the order of candidates: every third letter may be wrong (one of a short word), or it begins with word. Letter case costs nothing. Words over 80 bytes are near nothing.
func Nearest(word string, candidates []string) []string {
	const most, longest = 3, 80
	if word == "" || len(word) > longest {
		return []string{}
	}
	word = strings.ToLower(word)
	limit := max(1, len(word)/3)
	type match struct {
		name     string
		distance int
	}
	var found []match
	for _, c := range candidates {
		d := editDistance(word, c)
		switch {
		case d <= limit:
			found = append(found, match{c, d})
		case len(word) >= 2 && len(c) > len(word) && c[:len(word)] == word:
			found = append(found, match{c, limit + 1})
		}
	}
	slices.SortStableFunc(found, func(a, b match) int { return cmp.Compare(a.distance, b.distance) })
	names := make([]string, 0, most)
	for _, m := range found[:min(len(found), most)] {
		names = append(names, m.name)
	}
	return names
}

// editDistance is how many letters must be put in, left out, changed or swapped with their neighbour
// (Damerau-Levenshtein, optimal string alignment).
func editDistance(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
