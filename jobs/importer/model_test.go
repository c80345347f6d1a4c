package importer_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"lottery/jobs/importer"
	"lottery/models"
	"lottery/models/store"
)

// modelDraw is what the rules alone make of a slot.
type modelDraw struct {
	number, fireball, feed string
	revision               int
	void                   bool
}

// modelRow is one line of a file; every line is about Day or Night on one of a few dates.
type modelRow struct {
	date             models.Date
	tod              models.Tod
	number, fireball string
}

type modelSlot struct {
	date models.Date
	tod  models.Tod
}

// TestAgainstModel imports random files of both ranks, with operators' changes in between, and compares draws and
// counts with the rules written as plainly as possible. Strict imports and dry runs are included.
func TestAgainstModel(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	rapid.Check(t, func(rt *rapid.T) {
		for _, table := range []string{"draws", "draw_revisions", "import_runs"} {
			b.query("DELETE FROM " + table)
		}
		model := map[modelSlot]modelDraw{}
		for range rapid.IntRange(1, 6).Draw(rt, "steps") {
			if rapid.IntRange(0, 3).Draw(rt, "who") == 0 {
				modelOperator(rt, b, model)
				continue
			}
			modelImport(rt, b, model)
		}
	})
}

func drawSlot(rt *rapid.T) modelSlot {
	return modelSlot{models.Date(rapid.IntRange(-2, 1).Draw(rt, "date")), rapid.SampledFrom([]models.Tod{models.Day, models.Night}).Draw(rt, "tod")}
}

func modelOperator(rt *rapid.T, b *bench, model map[modelSlot]modelDraw) {
	at := drawSlot(rt)
	d, held := model[at]
	in := store.OperatorDraw{Slot: models.Slot{GameID: "tx-pick-3", Date: at.date, Tod: at.tod, Sequence: 1}, Number: "002", Reason: "said so"}
	if rapid.Bool().Draw(rt, "unset") {
		if _, err := b.st.UnsetDraw(context.Background(), in.Slot, in.Reason); (err == nil) != (held && !d.void) {
			rt.Fatal(err)
		}
		if held && !d.void {
			model[at] = modelDraw{"", d.fireball, models.FeedOperator, d.revision + 1, true}
		}
		return
	}
	if _, err := b.st.SetDraw(context.Background(), in); err != nil {
		rt.Fatal(err)
	}
	if !held || d.void || d.number != in.Number {
		d.revision++
	}
	model[at] = modelDraw{in.Number, d.fireball, models.FeedOperator, d.revision, false}
}

func modelImport(rt *rapid.T, b *bench, model map[modelSlot]modelDraw) {
	opts := importer.Options{
		Feed:   rapid.SampledFrom([]string{models.FeedCSV, models.FeedTexas}).Draw(rt, "feed"),
		Strict: rapid.Bool().Draw(rt, "strict"), DryRun: rapid.IntRange(0, 3).Draw(rt, "dry") == 0,
	}
	after := maps.Clone(model)
	var sources []importer.Source
	var want models.ImportSummary
	for i := range rapid.IntRange(1, 3).Draw(rt, "files") {
		rows := rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) modelRow {
			at := drawSlot(rt)
			return modelRow{at.date, at.tod, rapid.SampledFrom([]string{"000", "001", "002"}).Draw(rt, "number"), rapid.SampledFrom([]string{"", "5", "6"}).Draw(rt, "fireball")}
		}), 1, 6).Draw(rt, "rows")
		sources = append(sources, text(fmt.Sprint(i), modelText(opts.Feed, rows)))
		want.Withdrawn += modelWithdrawn(opts.Feed, rows, after)
		modelFile(opts.Feed, rows, after, &want)
	}
	result, _ := b.run(opts, sources...)
	s := result.Summary
	got := models.ImportSummary{Inserted: s.Inserted, Unchanged: s.Unchanged, Corrected: s.Corrected, Duplicate: s.Duplicate, Overruled: s.Overruled, Rejected: s.Rejected}
	if counts(got) != counts(want) {
		rt.Fatalf("got %s, want %s", counts(got), counts(want))
	}
	if s.Withdrawn != want.Withdrawn || len(s.WithdrawnDraws) != want.Withdrawn {
		rt.Fatalf("%d withdrawn, %v, want %d", s.Withdrawn, s.WithdrawnDraws, want.Withdrawn)
	}
	if refused := opts.Strict && want.Rejected > 0; result.Refused != refused {
		rt.Fatalf("refused: %v", result.Refused)
	}
	if !opts.DryRun && !result.Refused {
		clear(model)
		maps.Copy(model, after)
	}
	var lines []string
	for at, d := range model {
		line := fmt.Sprintf("tx-pick-3 %s %s #1 %s", at.date, at.tod, d.number)
		if d.fireball != "" {
			line += " fireball=" + d.fireball
		}
		line += fmt.Sprintf(" %s r%d", d.feed, d.revision)
		if d.void {
			line += " void"
		}
		lines = append(lines, line)
	}
	slices.Sort(lines)
	if stored := slices.Sorted(slices.Values(b.draws())); !slices.Equal(stored, lines) {
		rt.Fatalf("got\n%s\nwant\n%s", strings.Join(stored, "\n"), strings.Join(lines, "\n"))
	}
}

func modelText(feed string, rows []modelRow) string {
	var csv, texas strings.Builder
	csv.WriteString("game,date,tod,number,fireball\n")
	for _, r := range rows {
		fmt.Fprintf(&csv, "tx-pick-3,%s,%s,%s,%s\n", r.date, r.tod, r.number, r.fireball)
		y, m, d := r.date.Civil()
		fmt.Fprintf(&texas, "Pick 3 %s,%d,%d,%d,%s,,%s\n", r.tod, m, d, y, strings.Join(strings.Split(r.number, ""), ","), r.fireball)
	}
	if feed == models.FeedCSV {
		return csv.String()
	}
	return texas.String()
}

// modelWithdrawn counts Texas's stored draws that a Texas file lacks between two that it has.
func modelWithdrawn(feed string, rows []modelRow, draws map[modelSlot]modelDraw) (n int) {
	for at, d := range draws {
		before, there, after := false, false, false
		for _, r := range rows {
			if r.tod == at.tod {
				before, there, after = before || r.date < at.date, there || r.date == at.date, after || r.date > at.date
			}
		}
		if feed == models.FeedTexas && d.feed == feed && !d.void && before && after && !there {
			n++
		}
	}
	return n
}

// modelFile applies one file to draws and counts what it does.
func modelFile(feed string, rows []modelRow, draws map[modelSlot]modelDraw, count *models.ImportSummary) {
	bySlot := map[modelSlot][]modelRow{}
	for _, r := range rows {
		at := modelSlot{r.date, r.tod}
		bySlot[at] = append(bySlot[at], r)
	}
	for at, said := range bySlot {
		one, agreed := said[0], true
		for _, r := range said[1:] {
			agreed = agreed && r.number == one.number && (r.fireball == one.fireball || r.fireball == "" || one.fireball == "")
			one.fireball = max(one.fireball, r.fireball)
		}
		if !agreed {
			count.Rejected += len(said)
			continue
		}
		count.Duplicate += len(said) - 1
		d, held := draws[at]
		may := d.feed == feed || models.FeedRank(d.feed) < models.FeedRank(feed)
		news := one.fireball != "" && one.fireball != d.fireball
		switch {
		case !held:
			count.Inserted++
			draws[at] = modelDraw{one.number, one.fireball, feed, 1, false}
		case d.void:
			count.Overruled++
		case d.number == one.number && (!news || !may):
			count.Unchanged++
		case may:
			count.Corrected++
			if !news {
				one.fireball = d.fireball
			}
			draws[at] = modelDraw{one.number, one.fireball, feed, d.revision + 1, false}
		case d.feed == models.FeedOperator:
			count.Overruled++
		default:
			count.Rejected++
		}
	}
}
