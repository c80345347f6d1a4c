package importer

import (
	"iter"
	"slices"

	"lottery/models"
	"lottery/models/store"
)

// changes returns how many slots f's plan changes.
func (f *file) changes() int { return f.counts[inserted] + f.counts[corrected] }

// summary counts f's lines and draws by outcome; after the plan, with conflicts.
func (f *file) summary() models.ImportSummary {
	s := models.ImportSummary{
		Lines: f.lines, Skipped: f.skipped,
		Inserted: f.counts[inserted], Unchanged: f.counts[unchanged], Corrected: f.counts[corrected],
		Duplicate: f.counts[duplicate], Overruled: f.counts[overruled], Rejected: f.counts[conflicting],
		Rejections: map[models.Reason]int{}, IgnoredColumns: f.ignored, SkippedLines: f.mayBeDraws,
		Withdrawn: f.withdrawn.count, WithdrawnDraws: f.withdrawn.draws,
	}
	if n := f.counts[conflicting]; n > 0 {
		s.Rejections[models.ReasonConflict] = n
	}
	for reason, n := range f.rejected {
		s.Rejections[reason] = n
		s.Rejected += n
	}
	s.Draws = s.Inserted + s.Unchanged + s.Corrected + s.Duplicate + s.Overruled + s.Rejected
	return s
}

// drawChanges yields what f's plan writes, by slot.
func (r *run) drawChanges(f *file) iter.Seq[store.DrawChange] {
	return func(yield func(store.DrawChange) bool) {
		for i := range f.rows {
			at := &f.rows[i]
			if !at.outcome.writes() {
				continue
			}
			g := &r.games.games[at.key.game()]
			change := store.DrawChange{
				Slot:    models.Slot{GameID: g.ID, Date: at.key.date(), Tod: at.key.tod(), Sequence: at.key.sequence()},
				Number:  unpackNumber(at.number, g.Digits),
				Addons:  r.addons.text(at.merged),
				Correct: at.outcome == corrected,
			}
			if !yield(change) {
				return
			}
		}
	}
}

// overlay holds, by slot, what earlier files of the command would write.
type overlay []laidDraw

type laidDraw struct {
	key    key
	number uint64
	addons uint32
}

// with returns o overlaid with the changes of f's plan.
func (o overlay) with(f *file) overlay {
	laid := make(overlay, 0, len(o)+f.changes())
	for i := range f.rows {
		at := &f.rows[i]
		if !at.outcome.writes() {
			continue
		}
		for len(o) > 0 && o[0].key < at.key {
			laid, o = append(laid, o[0]), o[1:]
		}
		if len(o) > 0 && o[0].key == at.key {
			o = o[1:]
		}
		laid = append(laid, laidDraw{at.key, at.number, at.merged})
	}
	return slices.Concat(laid, o)
}
