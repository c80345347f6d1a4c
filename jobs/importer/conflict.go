package importer

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"strings"

	"lottery/models"
)

// conflict is one row that contradicts another line of its file, or the database.
type conflict struct {
	row    uint32 // index in file.rows
	start  uint32 // the first row of its slot
	other  uint32 // the first row that contradicts those before it; = start if the database does
	feed   uint16 // the stored draw's feed: index in the run's feeds
	odd    bool   // the stored digits are not the game's
	stored uint64
}

// eachRejection yields f's rejections in file order.
func (r *run) eachRejection(f *file, yield func(models.Rejection) error) error {
	conflicts := f.conflicts
	slices.SortFunc(conflicts, func(a, b conflict) int { return cmp.Compare(f.rows[a.row].index, f.rows[b.row].index) })
	until := func(index uint32) error {
		for len(conflicts) > 0 && f.rows[conflicts[0].row].index < index {
			if err := yield(r.conflictRejection(f, &conflicts[0])); err != nil {
				return err
			}
			conflicts = conflicts[1:]
		}
		return nil
	}
	err := f.rejections.each(func(index uint32, rejection models.Rejection) error {
		if err := until(index); err != nil {
			return err
		}
		return yield(rejection)
	})
	if err != nil {
		return err
	}
	return until(^uint32(0))
}

func (r *run) conflictRejection(f *file, c *conflict) models.Rejection {
	at := &f.rows[c.row]
	g := &r.games.games[at.key.game()]
	var detail string
	if c.other > c.start {
		detail = r.contradicting(f, c)
	} else {
		held := unpackNumber(c.stored, g.Digits)
		if c.odd {
			held = "a number of other digits"
		}
		detail = fmt.Sprintf("the database holds %s for %s, from feed %s: settle it with `lotteryadmin draws set`", held, r.slotName(at.key), r.feeds.name(c.feed))
	}
	return models.Rejection{
		File: f.name, Line: int(at.line), Column: r.columns.name(at.column), Value: at.published(g.Digits),
		Reason: models.ReasonConflict, Detail: detail, Draw: r.slotName(at.key),
	}
}

func (r *run) slotName(k key) string {
	name := fmt.Sprintf("%s %s %s", r.games.games[k.game()].ID, k.date(), k.tod())
	if k.sequence() > 1 {
		name += fmt.Sprintf(" sequence %d", k.sequence())
	}
	return name
}

const maxNamed = 4 // how many lines a conflict's detail names

// contradicting names the other lines of the conflict's slot, among them the one that contradicts its row.
func (r *run) contradicting(f *file, c *conflict) string {
	k := f.rows[c.row].key
	digits := r.games.games[k.game()].Digits
	size := sort.Search(len(f.rows)-int(c.start), func(i int) bool { return f.rows[int(c.start)+i].key > k })
	against := c.other
	if c.row == c.other || f.rows[c.row].number != f.rows[c.start].number {
		against = c.start
	}
	places := []uint32{against}
	for i := c.start; i < c.start+uint32(size) && len(places) < maxNamed; i++ {
		if i != c.row && i != against {
			places = append(places, i)
		}
	}
	slices.Sort(places)
	named := make([]string, len(places))
	for i, place := range places {
		at := &f.rows[place]
		named[i] = fmt.Sprintf("line %d says %s", at.line, unpackNumber(at.number, digits))
		if at.number == f.rows[c.row].number && at.addons != f.rows[c.row].addons {
			named[i] += " with other add-ons"
		}
	}
	if more := size - 1 - len(places); more > 0 {
		named = append(named, "and "+models.Count(more, "line")+" more")
	}
	return strings.Join(named, ", ") + " for " + r.slotName(k)
}
