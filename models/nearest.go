package models

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
)

// Bounds for suggestions: an error must stay short, and cheap to make.
const (
	mostNear    = 3
	longestNear = 80 // bytes
)

// Nearest returns up to three of candidates (in lower case) that word was probably meant to be, nearest first, ties in
// the order of candidates. Every third letter may be wrong (one in a short word), or a candidate begins with word.
// Letter case is ignored. Words over 80 bytes have no matches.
func Nearest(word string, candidates []string) []string {
	if word == "" || len(word) > longestNear {
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
	names := make([]string, 0, mostNear)
	for _, m := range found[:min(len(found), mostNear)] {
		names = append(names, m.name)
	}
	return names
}

// GameName holds the names by which a game may be called.
type GameName struct{ ID, Name, Type string }

// NearestGames returns the ids of up to three games that word was probably meant to be, nearest first: word resembles
// the id or name of the game (every third letter may be wrong), consists of some whole words of them, or is the
// beginning of the id, or the type. Letter case and separators are ignored, and one may be missing before a digit.
// Words over 80 bytes have no matches.
func NearestGames(word string, games []GameName) []string {
	joined := hyphened(word)
	apart := digitsApart(joined)
	if joined == "" || len(word) > longestNear {
		return []string{}
	}
	limit := max(1, len(joined)/3)
	type match struct {
		id              string
		worse, distance int
	}
	var found []match
	for _, g := range games {
		name := hyphened(g.Name)
		d := min(distanceWithin(limit, joined, g.ID), distanceWithin(limit, joined, name))
		worse := 2 * d
		switch {
		case len(joined) > 1 && (hasWords(g.ID, joined) || hasWords(name, joined) || hasWords(g.ID, apart)):
			worse = min(worse, 1) // nearer than a single wrong letter
		case g.Type == joined:
			worse = min(worse, 3)
		case d > limit && (len(joined) == 1 || !strings.HasPrefix(g.ID, joined)):
			continue
		}
		found = append(found, match{g.ID, worse, editDistance(joined, g.ID)})
	}
	slices.SortStableFunc(found, func(a, b match) int {
		return cmp.Or(cmp.Compare(a.worse, b.worse), cmp.Compare(a.distance, b.distance))
	})
	ids := make([]string, 0, mostNear)
	for _, m := range found[:min(len(found), mostNear)] {
		ids = append(ids, m.id)
	}
	return ids
}

// hyphened returns the words of s in lower case, joined by hyphens like those of a game's id.
func hyphened(s string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }), "-")
}

// digitsApart puts a hyphen between a letter and a digit: win-4 for win4.
func digitsApart(s string) string {
	var b strings.Builder
	last := ' '
	for _, r := range s {
		if unicode.IsDigit(r) && unicode.IsLetter(last) {
			b.WriteByte('-')
		}
		b.WriteRune(r)
		last = r
	}
	return b.String()
}

// hasWords reports whether words, joined by hyphens, are consecutive whole words of s.
func hasWords(s, words string) bool { return strings.Contains("-"+s+"-", "-"+words+"-") }

// distanceWithin is editDistance if that is at most limit, else limit + 1.
func distanceWithin(limit int, a, b string) int {
	if max(len(a)-len(b), len(b)-len(a)) > limit {
		return limit + 1
	}
	return min(editDistance(a, b), limit+1)
}

// editDistance is how many bytes must be inserted, deleted, changed or swapped with their neighbour to turn a into b
// (Damerau–Levenshtein, optimal string alignment).
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
