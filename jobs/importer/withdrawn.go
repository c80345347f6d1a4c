package importer

import (
	"regexp"
	"slices"

	"lottery/jobs/feed"
	"lottery/models"
)

// withdrawn holds the stored draws that a file lacks although its feed once had them.
type withdrawn struct {
	count int
	draws []models.WithdrawnDraw // the first of them
}

// spans holds, by time of day, the first and last date of a game's draws in a file.
type spans [models.TodCount + 1]struct{ first, last models.Date }

// spansOf returns the spans of the rows of one game, which must be sorted by date.
func spansOf(rows []row) (all spans) {
	var seen [len(all)]bool
	for i := range rows {
		tod, date := rows[i].key.tod(), rows[i].key.date()
		if !seen[tod] {
			seen[tod], all[tod].first = true, date
		}
		all[tod].last = date
	}
	for tod := range all {
		if !seen[tod] {
			all[tod].first, all[tod].last = 1, 0 // an empty span
		}
	}
	return all
}

// anyDate matches what may be a date in a row of any form.
var anyDate = regexp.MustCompile(`\b(?:(\d{1,2})\W{1,3}(\d{1,2})\W{1,3}(\d{4})|(\d{4})-(\d\d)-(\d\d))(?:\b|T)`)

// doubt records the day of a rejected draw and, since that may be what is wrong with it, every day that its row names. It
// records no slot, which may be wrong, too.
func (f *file) doubt(c *feed.Candidate) {
	if c.DateOK {
		f.doubtful = append(f.doubtful, c.Date)
	}
	for _, m := range anyDate.FindAllStringSubmatch(c.Raw, -1) {
		if date, ok := feed.CivilDate(m[1]+m[5], m[2]+m[6], m[3]+m[4]); ok {
			f.doubtful = append(f.doubtful, date)
		}
	}
}

// absentStored considers a stored draw that no row of the file has.
func (p *planner) absentStored(at key, d *models.Draw) {
	if laid := p.laid(at); laid != nil {
		p.absent(at, laid.number)
		return
	}
	if number, ok := packNumber(d.Number, p.run.games.games[p.game].Digits); ok && d.Feed == p.run.form.Feed { // else somebody else's, or void
		p.absent(at, number)
	}
}

// absent records a draw of the file's feed that no row of the file has, if the file has draws before and after it.
func (p *planner) absent(at key, number uint64) {
	f, span := p.file, &p.spans[at.tod()]
	if !p.run.form.Whole || at.game() != p.game || at.date() < span.first || at.date() > span.last {
		return
	}
	if _, doubtful := slices.BinarySearch(f.doubtful, at.date()); doubtful {
		return
	}
	if f.withdrawn.count++; len(f.withdrawn.draws) == models.MostWithdrawn {
		return
	}
	g := &p.run.games.games[p.game]
	f.withdrawn.draws = append(f.withdrawn.draws, models.WithdrawnDraw{
		File: f.name, Game: g.ID, Date: at.date(), Tod: at.tod(), Sequence: at.sequence(), Number: unpackNumber(number, g.Digits),
	})
}
