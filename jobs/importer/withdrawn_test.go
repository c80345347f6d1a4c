package importer_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"lottery/jobs/importer"
	"lottery/models"
)

// A draw that its lottery no longer publishes, though it publishes those before and after it, is reported and stays.
// Draws beyond the file's range, of another feed, or possibly among the rejected lines are not reported.
func TestWithdrawn(t *testing.T) {
	t.Parallel()
	line := func(tod string, day int, number string) string {
		return fmt.Sprintf("Pick 3 %s,5,%d,2024,%s,,\n", tod, day, strings.Join(strings.Split(number, ""), ","))
	}
	first := line("Day", 1, "001") + line("Day", 2, "002") + line("Day", 3, "003") + line("Night", 2, "222")
	for _, tc := range []struct {
		name, before, text string
		want               []string
	}{
		{"the same file", "", first, nil},
		{"one between two", "", line("Day", 1, "001") + line("Day", 3, "003"), []string{"tx-pick-3 2024-05-02 Day 002"}},
		{"of another time of day", "", line("Day", 1, "001") + line("Day", 2, "002") + line("Day", 3, "003"), nil},
		{"one that moved to another day", "", line("Day", 1, "001") + line("Day", 3, "003") + line("Day", 4, "002"), []string{"tx-pick-3 2024-05-02 Day 002"}},
		{"the oldest and the newest", "", line("Day", 2, "002"), nil},
		{"one whose line is rejected", "", line("Day", 1, "001") + line("Day", 2, "02") + line("Day", 3, "003"), nil},
		{"one of whose day a line is rejected", "", line("Day", 1, "001") + line("Dusk", 2, "002") + line("Day", 3, "003"), nil},
		{"one that two lines contradict", "", line("Day", 1, "001") + line("Day", 2, "002") + line("Day", 2, "003") + line("Day", 3, "003"), nil},
		{"one of another feed", "UPDATE draws SET feed = 'csv'", line("Day", 1, "001") + line("Day", 3, "003"), nil},
		{"one of an operator", "UPDATE draws SET feed = 'operator'", line("Day", 1, "001") + line("Day", 3, "003"), nil},
		{"one that an operator took back", "UPDATE draws SET feed = 'operator', void = true, number = '' WHERE number = '002'", line("Day", 1, "001") + line("Day", 3, "003"), nil},
		{"a second draw of a slot", "UPDATE draws SET tod = (SELECT min(tod) FROM draws), sequence = 2 WHERE number = '222'",
			line("Day", 1, "001") + line("Day", 2, "002") + line("Day", 3, "003"), []string{"tx-pick-3 2024-05-02 Day sequence 2 222"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.add(models.FeedTexas, first)
			if tc.before != "" {
				b.query(tc.before)
			}
			held := len(b.draws())
			result, _ := b.run(importer.Options{Feed: models.FeedTexas}, text("second", tc.text))
			var got []string
			for _, d := range result.Summary.WithdrawnDraws {
				got = append(got, d.String())
				if d.File != "second" {
					t.Errorf("it is told of %s", d.File)
				}
			}
			wantLines(b, "withdrawn", got, tc.want...)
			if result.Summary.Withdrawn != len(tc.want) || len(b.draws()) < held {
				t.Errorf("%d withdrawn; %d draws, %d before", result.Summary.Withdrawn, len(b.draws()), held)
			}
			recorded := b.query("SELECT summary FROM import_runs ORDER BY id DESC LIMIT 1")[0]
			if strings.Contains(recorded, `"withdrawn":1,"withdrawn_draws":[{"file":"second","game":"tx-pick-3","date":"2024-05-02",`) != (len(tc.want) > 0) {
				t.Errorf("recorded: %s", recorded)
			}
		})
	}
}

// A line that cannot be read may be the draw that is missing, whatever is wrong with it.
func TestWithdrawnBesideDamaged(t *testing.T) {
	t.Parallel()
	for feed, form := range map[string]struct {
		above, good, below string
		damaged            []string
	}{
		models.FeedVirginia: {
			"Results for Pick 3\n5/3/2024; Day: 0,0,3; Night: 3,3,3\n", "5/2/2024; Day: 0,0,2; Night: 2,2,2\n", "5/1/2024; Day: 0,0,1; Night: 1,1,1\n",
			[]string{
				"5/2/2024; Day 0,0,2; Night: 2,2,2\n", "5/2/2024; Day 0,0,2\n", "5/2/2024; Fireball: 1; Night: 2,2,2\n", "5/2/2024; Day: 0,0,2\x00; Night: 2,2,2\n",
				"4/2/2024; Night: 2,2,2 5/2/2024; Day: 0,0,2\n", "5-2/2024; Day: 0,0,2; Night: 2,2,2\n", "5/2/2024 \"; Day: 0,0,2; Night: 2,2,2\n",
			},
		},
		models.FeedNC: {
			"\"Date\",\"Day/Eve\",\"Ball 1\",\"Ball 2\",\"Ball 3\"\n\"05/03/2024\",\"D\",\"0\",\"0\",\"3\"\n", "\"05/02/2024\",\"D\",\"0\",\"0\",\"2\"\n", "\"05/01/2024\",\"D\",\"0\",\"0\",\"1\"\n",
			[]string{"\"05/02/2024\",\"D\",\"0\",\"0\"\n", "\"05/02/2024,\"D\",\"0\",\"0\",\"2\"\n", "\"05-02-2024\",\"D\",\"0\",\"0\",\"2\"\n"},
		},
		models.FeedNYOpenData: {
			`[{"draw_date":"2024-05-01T00:00:00.000","midday_daily":"001"},`, `{"draw_date":"2024-05-02T00:00:00.000","midday_daily":"002"},`, `{"draw_date":"2024-05-03T00:00:00.000","midday_daily":"003"}]`,
			[]string{`{"draw_date":"2024-05-02T00:00:00.000","midday_daily":"001","midday_daily":"002"},`, `{"draw_date":"2024-05-02 T","midday_daily":"002"},`},
		},
		models.FeedTexas: {
			"Pick 3 Day,5,1,2024,0,0,1,,\n", "Pick 3 Day,5,2,2024,0,0,2,,\n", "Pick 3 Day,5,3,2024,0,0,3,,\n",
			[]string{"Pick 3 Day,5,2,2024,0,0\n", "\"Pick 3 Day,5,2,2024,0,0,2,,\"\n", "Pick 3 Day, 5, 2, 2024\n", "Pick 3 Day,5,2.,2024,0,0,2,,\n"},
		},
	} {
		for _, damaged := range append(form.damaged, "") { // "" = the line is gone
			t.Run(feed+" "+damaged, func(t *testing.T) {
				t.Parallel()
				b := newBench(t)
				b.add(feed, form.above+form.good+form.below)
				result, rejections := b.run(importer.Options{Feed: feed}, text("second", form.above+damaged+form.below))
				gone := damaged == ""
				if (len(rejections) == 0) != gone || len(result.FileErrors) > 0 || (result.Summary.Withdrawn == 0) == gone {
					t.Errorf("%q: %d withdrawn, %v", rejections, result.Summary.Withdrawn, result.FileErrors)
				}
			})
		}
	}
}

// A CSV of one's own may contain any draws.
func TestWithdrawnOfCSV(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.add(models.FeedCSV, csvText("tx-pick-3,2024-05-01,Day,001,", "tx-pick-3,2024-05-02,Day,002,", "tx-pick-3,2024-05-03,Day,003,"))
	result, _ := b.run(importer.Options{Feed: models.FeedCSV}, text("second", csvText("tx-pick-3,2024-05-01,Day,001,", "tx-pick-3,2024-05-03,Day,003,")))
	if result.Summary.Withdrawn != 0 {
		t.Errorf("%+v", result.Summary)
	}
}

// If there are many, the first are named. Files planned together count like files imported one after the other, even if
// one has games that another lacks.
func TestWithdrawnInFilesTogether(t *testing.T) {
	onEach(t, func(b *bench) {
		record := func(month, day int, fields string) string {
			return fmt.Sprintf(`{"draw_date":"2024-%02d-%02dT00:00:00.000",%s}`, month, day, fields)
		}
		var all []string
		for day := 1; day <= 25; day++ {
			all = append(all, record(4, day, `"midday_daily":"123","midday_win_4":"1234"`))
		}
		files := []importer.Source{
			text("all", "["+strings.Join(all, ",")+"]"),
			text("few", "["+record(4, 1, `"midday_win_4":"1234"`)+","+record(4, 25, `"midday_win_4":"1234"`)+"]"),
		}
		for _, o := range []importer.Options{{DryRun: true}, {Strict: true}, {}} {
			o.Feed = models.FeedNYOpenData
			result, _ := b.run(o, files...)
			s := result.Summary
			if s.Withdrawn != 23 || len(s.WithdrawnDraws) != models.MostWithdrawn || s.WithdrawnDraws[0].String() != "ny-win-4 2024-04-02 Midday 1234" {
				b.Errorf("%+v: %d withdrawn, %v", o, s.Withdrawn, s.WithdrawnDraws)
			}
		}
		slot := models.Slot{GameID: "ny-win-4", Date: models.NewDate(2024, 4, 2), Tod: models.Midday, Sequence: 1}
		if _, err := b.st.UnsetDraw(context.Background(), slot, "never drawn"); err != nil {
			b.Fatal(err)
		}
		result, _ := b.run(importer.Options{Feed: models.FeedNYOpenData}, files[1])
		if s := result.Summary; s.Withdrawn != 22 || s.WithdrawnDraws[0].String() != "ny-win-4 2024-04-03 Midday 1234" {
			b.Errorf("%d withdrawn, %v", s.Withdrawn, s.WithdrawnDraws)
		}
	})
}

// If a file is planned again because the draws changed before it was written, what was found is counted once.
func TestWithdrawnInASecondPlan(t *testing.T) {
	onEach(t, func(b *bench) {
		b.add(models.FeedTexas, "Pick 3 Day,5,11,2024,0,0,1,,\nPick 3 Day,5,12,2024,0,0,2,,\nPick 3 Day,5,13,2024,0,0,3,,\n")
		var plans []string
		result, _ := b.run(importer.Options{
			Feed: models.FeedTexas,
			Progress: func(p importer.Progress) {
				if p.Phase == importer.PhaseWriting && len(plans) == 1 {
					if _, err := b.st.SetDraw(context.Background(), storeDraw("555")); err != nil { // not the feed's word, so it is not held
						b.Error(err)
					}
				}
			},
			Doubt: func(held, rewritten int) error {
				plans = append(plans, fmt.Sprintf("%d held, %d rewritten", held, rewritten))
				return nil
			},
		}, text("f", "Pick 3 Day,5,2,2024,9,9,9,,\nPick 3 Day,5,11,2024,0,0,1,,\nPick 3 Day,5,13,2024,0,0,9,,\n"))
		wantLines(b, "plans", plans, "2 held, 1 rewritten", "2 held, 1 rewritten")
		if s := result.Summary; s.Withdrawn != 1 || len(s.WithdrawnDraws) != 1 {
			b.Errorf("%d withdrawn, %v", s.Withdrawn, s.WithdrawnDraws)
		}
	})
}
