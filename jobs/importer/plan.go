package importer

import (
	"context"
	"math"

	"lottery/models"
)

// stored is what a slot holds before a file is imported; nil = nothing.
type stored struct {
	number uint64
	odd    bool // the stored digits are not the game's: no number equals them
	addons models.Addons
	feed   string
}

// planned is what the plan says of a file, besides the outcomes of its rows.
type planned struct {
	counts    [outcomes]int // of rows
	conflicts []conflict
	withdrawn withdrawn
	held      int // slots that hold the feed's own earlier word
	rewritten int // how many of those would get other digits
}

// plan decides the outcome of every row of f against the database overlaid with before. It can be repeated.
func (r *run) plan(ctx context.Context, f *file, before overlay) error {
	f.planned = planned{conflicts: f.conflicts[:0]}
	p := planner{run: r, file: f, before: before}
	for start := 0; start < len(f.rows); {
		end := start
		for end < len(f.rows) && f.rows[end].key.game() == f.rows[start].key.game() {
			end++
		}
		if err := p.decideGame(ctx, start, end); err != nil {
			return err
		}
		start = end
	}
	for i := range f.rows {
		f.counts[f.rows[i].outcome]++
	}
	return nil
}

// planner walks a file's rows, the overlay and the stored draws in parallel: all three are sorted by slot.
type planner struct {
	run    *run
	file   *file
	before overlay // what is left of it
	next   int     // the first row not yet decided
	game   int     // the game whose rows are being decided
	spans  spans   // the spans of its rows
}

// decideGame decides the rows from start to end, which are all of one game.
func (p *planner) decideGame(ctx context.Context, start, end int) error {
	rows := p.file.rows
	game := rows[start].key.game()
	g := &p.run.games.games[game]
	p.next, p.game, p.spans = start, game, spansOf(rows[start:end])
	err := p.run.store.StoredDraws(ctx, g.ID, rows[start].key.date(), rows[end-1].key.date(), func(d *models.Draw) error {
		at := newKey(game, d.Date, d.Tod, d.Sequence)
		for p.next < end && rows[p.next].key < at {
			p.slot(nil)
		}
		if p.next < end && rows[p.next].key == at {
			number, ok := packNumber(d.Number, g.Digits)
			p.slot(&stored{number: number, odd: !ok, addons: d.Addons, feed: d.Feed})
		} else {
			p.absentStored(at, d)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for p.next < end {
		p.slot(nil)
	}
	p.laid(newKey(game+1, math.MinInt32, 0, 0))
	return nil
}

// laid returns the overlay's draw in slot k, or nil. It discards what precedes k: slots must be asked for in order.
func (p *planner) laid(k key) *laidDraw {
	for len(p.before) > 0 && p.before[0].key < k {
		p.absent(p.before[0].key, p.before[0].number)
		p.before = p.before[1:]
	}
	if len(p.before) == 0 || p.before[0].key != k {
		return nil
	}
	found := &p.before[0]
	p.before = p.before[1:]
	return found
}

// slot decides all rows of the next slot, for which the database holds found.
func (p *planner) slot(found *stored) {
	rows, start := p.file.rows, p.next
	end := start + 1
	for end < len(rows) && rows[end].key == rows[start].key {
		end++
	}
	p.next = end
	p.run.progress.at(Progress{p.file.name, PhaseComparing, int64(end), int64(len(rows))})
	if laid := p.laid(rows[start].key); laid != nil {
		found = &stored{number: laid.number, addons: p.run.addons.addons(laid.addons), feed: p.run.form.Feed}
	}

	addons, other := p.agree(start, end)
	if other > start {
		for i := start; i < end; i++ {
			rows[i].outcome = conflicting
			p.file.conflicts = append(p.file.conflicts, conflict{row: uint32(i), start: uint32(start), other: uint32(other)})
		}
		return
	}
	for i := start + 1; i < end; i++ {
		rows[i].outcome = duplicate
	}
	p.decide(start, addons, found)
}

// agree returns the union of the add-ons of all rows of a slot, and the first row that contradicts the rows before it;
// start if none does.
func (p *planner) agree(start, end int) (addons uint32, other int) {
	rows := p.file.rows
	addons = rows[start].addons
	for i := start + 1; i < end; i++ {
		both, ok := p.run.addons.union(addons, rows[i].addons)
		if !ok || rows[i].number != rows[start].number {
			return addons, i
		}
		addons = both
	}
	return addons, start
}

// decide applies the rules for what a row does to a stored draw (see the package comment).
func (p *planner) decide(i int, addons uint32, found *stored) {
	r, table := &p.file.rows[i], p.run.addons
	if found == nil {
		r.outcome, r.merged = inserted, addons
		return
	}
	feedID := p.run.form.Feed
	same := !found.odd && found.number == r.number
	if found.feed == feedID {
		p.file.held++
		if !same {
			p.file.rewritten++
		}
	}
	mayCorrect := found.feed == feedID || models.FeedRank(found.feed) < models.FeedRank(feedID)
	switch {
	case same && (!mayCorrect || !table.brings(addons, found.addons)):
		r.outcome = unchanged
	case mayCorrect:
		r.outcome, r.merged = corrected, table.over(found.addons, addons)
	case found.feed == models.FeedOperator: // perhaps void: then the digits are odd
		r.outcome = overruled
	default:
		r.outcome = conflicting
		p.file.conflicts = append(p.file.conflicts, conflict{
			row: uint32(i), start: uint32(i), other: uint32(i), feed: p.run.feeds.number(found.feed), stored: found.number, odd: found.odd,
		})
	}
}
