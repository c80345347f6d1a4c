package catalog

import (
	"cmp"
	"slices"
	"strings"
)

const (
	nearestCount  = 3
	longestNearID = 80 // game ids have at most 64 characters; anything longer than this is near to none
)

// Nearest lists up to three game ids that id may have meant, nearest first, equally near ones by id. Letter
// case costs nothing; beyond that, every third character may be wrong, or two in a short id. It is empty
// where none is near.
func (c *Catalog) Nearest(id string) []string {
	type candidate struct {
		id       string
		distance int
	}
	near := make([]string, 0, nearestCount)
	if id == "" || len(id) > longestNearID {
		return near
	}
	folded := strings.ToLower(id)
	limit := min(max(2, len(folded)/3), len(folded)-1)
	var candidates []candidate
	for _, g := range c.games {
		if d := editDistance(folded, g.ID, limit); d <= limit {
			candidates = append(candidates, candidate{g.ID, d})
		}
	}
	slices.SortFunc(candidates, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.distance, b.distance), cmp.Compare(a.id, b.id))
	})
	for _, found := range candidates[:min(nearestCount, len(candidates))] {
		near = append(near, found.id)
	}
	return near
}

// editDistance is how many bytes must be inserted, deleted or replaced to make b of a (Levenshtein), or limit+1
// where that is more than limit or one of them is too long to compare.
func editDistance(a, b string, limit int) int {
	if len(a) > longestNearID || len(b) > longestNearID || max(len(a)-len(b), len(b)-len(a)) > limit {
		return limit + 1
	}
	var row [longestNearID + 1]int
	for j := range row[:len(b)+1] {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replaced := diagonal
			if a[i] != b[j] {
				replaced++
			}
			diagonal = row[j+1]
			row[j+1] = min(replaced, row[j]+1, diagonal+1)
		}
	}
	return min(row[len(b)], limit+1)
}
