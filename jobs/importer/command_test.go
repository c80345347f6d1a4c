package importer_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"lottery/jobs/importer"
	"lottery/models"
)

var (
	clean   = text("clean", texas("123", "")+texas("123", "4"))
	dirty   = text("dirty", "Pick 3 Day,5,3,2024,4,5,6\nPick 3 Day,5,4,2024,4,5,66\n")
	changed = text("changed", texas("124", "")+"Pick 3 Night,5,2,2024,7,8,9\n")
	page    = text("page", "<!DOCTYPE html><title>Maintenance</title>")
)

const (
	cleanDraw   = "tx-pick-3 2024-05-02 Day #1 123 fireball=4 tx-lottery r1"
	changedDraw = "tx-pick-3 2024-05-02 Day #1 124 fireball=4 tx-lottery r2"
	dirtyDraw   = "tx-pick-3 2024-05-03 Day #1 456 tx-lottery r1"
	nightDraw   = "tx-pick-3 2024-05-02 Night #1 789 tx-lottery r1"
)

// TestSeveralFiles: what lands, by options.
func TestSeveralFiles(t *testing.T) {
	onEach(t, func(b *bench) {
		for _, tc := range []struct {
			name    string
			opts    importer.Options
			sources []importer.Source
			counts  string
			refused bool
			failed  []string // names of files
			draws   []string
			runs    []string // what import_runs holds
			moved   int64    // data versions
		}{
			{
				"each file by itself, the later against the earlier", importer.Options{}, []importer.Source{clean, dirty, changed},
				"lines 6 draws 6 inserted 3 corrected 1 duplicate 1 rejected 1", false, nil, []string{changedDraw, nightDraw, dirtyDraw},
				[]string{"tx-lottery clean", "tx-lottery dirty", "tx-lottery changed"}, 3,
			},
			{
				"a file that is none leaves the others", importer.Options{}, []importer.Source{page, clean},
				"lines 2 draws 2 inserted 1 duplicate 1", false, []string{"page"}, []string{cleanDraw}, []string{"tx-lottery clean"}, 1,
			},
			{
				"dry run", importer.Options{DryRun: true}, []importer.Source{clean, page, changed, dirty},
				"lines 6 draws 6 inserted 3 corrected 1 duplicate 1 rejected 1", false, []string{"page"}, nil, nil, 0,
			},
			{
				"strict and clean: one transaction", importer.Options{Strict: true}, []importer.Source{clean, changed, clean},
				"lines 6 draws 6 inserted 2 corrected 2 duplicate 2", false, nil,
				[]string{"tx-pick-3 2024-05-02 Day #1 123 fireball=4 tx-lottery r3", nightDraw}, []string{"tx-lottery clean", "tx-lottery changed", "tx-lottery clean"}, 1,
			},
			{
				"strict with a rejection", importer.Options{Strict: true}, []importer.Source{clean, dirty, changed},
				"lines 6 draws 6 inserted 3 corrected 1 duplicate 1 rejected 1", true, nil, nil, nil, 0,
			},
			{
				"strict with a file that is none", importer.Options{Strict: true}, []importer.Source{clean, page},
				"lines 2 draws 2 inserted 1 duplicate 1", true, []string{"page"}, nil, nil, 0,
			},
			{
				"strict and nothing else", importer.Options{Strict: true}, []importer.Source{page}, "", true, []string{"page"}, nil, nil, 0,
			},
			{
				"strict dry run", importer.Options{Strict: true, DryRun: true}, []importer.Source{clean, changed},
				"lines 4 draws 4 inserted 2 corrected 1 duplicate 1", false, nil, nil, nil, 0,
			},
			{"no files", importer.Options{}, nil, "", false, nil, nil, nil, 0},
		} {
			b.query("DELETE FROM draws")
			b.query("DELETE FROM draw_revisions")
			b.query("DELETE FROM import_runs")
			before := b.version()
			tc.opts.Feed = models.FeedTexas
			result, _ := b.run(tc.opts, tc.sources...)
			var failed []string
			for _, f := range result.FileErrors {
				failed = append(failed, f.File)
			}
			if got := counts(result.Summary); got != tc.counts || result.Refused != tc.refused || !slices.Equal(failed, tc.failed) ||
				result.Summary.Files != len(tc.sources) || result.Summary.Feed != models.FeedTexas {
				b.Errorf("%s: %s, %+v", tc.name, got, result)
			}
			wantLines(b, tc.name+": draws", b.draws(), tc.draws...)
			wantLines(b, tc.name+": runs", b.query("SELECT feed, source FROM import_runs ORDER BY id"), tc.runs...)
			if moved := b.version().Number - before.Number; moved != tc.moved {
				b.Errorf("%s: the version moved by %d, want %d", tc.name, moved, tc.moved)
			}
			if tc.opts.DryRun || result.Refused {
				continue
			}
			// Once more: what was inserted or corrected is unchanged now, and the version stays if nothing changes.
			version := b.version()
			again, _ := b.run(tc.opts, tc.sources...)
			if len(tc.sources) < 3 && (again.Summary.Inserted+again.Summary.Corrected > 0 || b.version() != version) {
				b.Errorf("%s: the second time: %s", tc.name, counts(again.Summary))
			}
		}
	})
}

// TestRunIsRecorded: the summary of each file is in import_runs.
func TestRunIsRecorded(t *testing.T) {
	onEach(t, func(b *bench) {
		b.run(importer.Options{Feed: models.FeedTexas}, dirty)
		wantLines(b, "runs", b.query("SELECT summary FROM import_runs"),
			`{"feed":"tx-lottery","files":1,"lines":2,"draws":2,"inserted":1,"unchanged":0,"corrected":0,"duplicate":0,"overruled":0,"rejected":1,"skipped":0,"rejections":{"bad_digits":1},"duration_ms":0}`)
	})
}

// TestSkippedLines: the summary names the first lines of a file that were taken for titles between or below the draws,
// but hold several numbers.
func TestSkippedLines(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	lines := append([]string{"9/7/2013,9,3,8", "Pick 3 Day,9,8,2013,3,9,8", "Pick 3 Results"}, repeat("9/9/2013,9,3,8", models.MostSkipped+1)...)
	result, _ := b.run(importer.Options{Feed: models.FeedTexas, Strict: true}, text("f", strings.Join(lines, "\n")))
	var want []models.SkippedLine
	for i := range models.MostSkipped {
		want = append(want, models.SkippedLine{File: "f", Line: 4 + i, Text: "9/9/2013,9,3,8"})
	}
	if !slices.Equal(result.Summary.SkippedLines, want) || result.Refused || result.Summary.Inserted != 1 || result.Summary.Skipped != models.MostSkipped+3 {
		t.Errorf("%+v", result)
	}
}

// TestIgnoredColumns: the summary and import_runs name them by file, even for a file without a draw; they reject
// nothing.
func TestIgnoredColumns(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	result, _ := b.run(importer.Options{Feed: models.FeedNYOpenData, Strict: true},
		text("first", `[{"draw_date":"2024-05-01T00:00:00.000","midday_daily":"123","wild_ball":"5","wild_ball_2":"5"}]`),
		text("second", `[{"draw_date":"2024-05-02T00:00:00.000","midday_daily":"123","wild_ball":"5"},{"draw_date":"2024-05-03T00:00:00.000","wild_ball":"6"}]`))
	want := []models.IgnoredColumn{{File: "first", Column: "wild_ball"}, {File: "first", Column: "wild_ball_2"}, {File: "second", Column: "wild_ball"}}
	if !slices.Equal(result.Summary.IgnoredColumns, want) || result.Refused || result.Summary.Inserted != 2 {
		t.Errorf("%+v", result)
	}
	runs := b.query("SELECT summary FROM import_runs ORDER BY id DESC")
	if !strings.HasSuffix(runs[0], `,"ignored_columns":[{"file":"second","column":"wild_ball"}]}`) {
		t.Errorf("%q", runs)
	}
	result, _ = b.run(importer.Options{Feed: models.FeedNYOpenData}, text("renamed", `[{"draw_date":"2024-05-01T00:00:00.000","midday_numbers":"123"}]`))
	if len(result.FileErrors) != 1 || !slices.Equal(result.Summary.IgnoredColumns, []models.IgnoredColumn{{File: "renamed", Column: "midday_numbers"}}) {
		t.Errorf("%+v", result)
	}
}

// TestFilesThatAreNone: each is an error that says what was found, and changes nothing.
func TestFilesThatAreNone(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	broken := errors.New("connection reset")
	missing := importer.Source{Name: "missing", Size: -1, Open: func(context.Context) (io.ReadCloser, error) { return nil, fs.ErrNotExist }}
	cut := importer.Source{Name: "cut", Size: -1, Open: func(context.Context) (io.ReadCloser, error) {
		return io.NopCloser(io.MultiReader(strings.NewReader(csvText("tx-pick-3,2024-05-02,Day,123,", "tx-pick-3,2024-05-02,Day,1234,")), iotest.ErrReader(broken))), nil
	}}
	result, rejections := b.run(importer.Options{Feed: models.FeedCSV}, missing, cut, text("empty", ""), page,
		text("header", csvText()), text("other", "a,b\nc,d\n"),
		text("nothing", csvText("tx-pick-3,5/2/2024,Dusk,123,", "x,2024-02-30,Day,123,", "tx-pick-3,,Day,12,", "huh")),
		text("dates", csvText("tx-pick-3,5/2/2024,Day,123,", "tx-pick-3,5/3/2024,Dusk,123,")),
	)
	want := []struct {
		file, text string
		is         error
	}{
		{"missing", "file does not exist", fs.ErrNotExist},
		{"cut", "connection reset", broken},
		{"empty", "the file is empty: expected CSV with the header game,date,tod,number", nil},
		{"page", "it is a web page (HTML) or XML, not data", nil},
		{"header", "of 2 lines, there is no line that could be a draw: expected CSV", importer.ErrNoDraws},
		{"other", `"c,d" is not the header`, nil},
		{"nothing", "of 5 lines, every line that could be a draw is rejected (malformed 1, bad_date 3): expected CSV", importer.ErrNoDraws},
		{"dates", `add-on columns); the first is line 2: bad_date "5/2/2024": not a calendar date from 1900-01-01 on, written as 2024-09-30`, importer.ErrNoDraws},
	}
	if len(result.FileErrors) != len(want) {
		t.Fatalf("%v", result.FileErrors)
	}
	for i, w := range want {
		got := result.FileErrors[i]
		if got.File != w.file || !strings.Contains(got.Error(), w.text) || (w.is != nil && !errors.Is(got, w.is)) {
			t.Errorf("%s: %v, want %q", w.file, got, w.text)
		}
	}
	// A file that was read completely but held no draw is counted, and its rejections are reported.
	if got := counts(result.Summary); got != "lines 10 draws 6 rejected 6 skipped 4" || len(rejections) != 6 {
		t.Errorf("%s, %q", got, rejections)
	}
	if draws := b.draws(); len(draws) > 0 {
		t.Errorf("%q", draws)
	}
	// Draws that could be read as far as their date, and are rejected for something after it, are no error of the file.
	result, _ = b.run(importer.Options{Feed: models.FeedCSV}, text("future", csvText("tx-pick-3,2024-07-02,Day,123,")),
		text("conflict", csvText("tx-pick-3,2024-05-02,Day,123,", "tx-pick-3,2024-05-02,Day,124,")),
		text("game", csvText("x,2024-05-02,Day,123,")), text("tod", csvText("tx-pick-3,2024-05-02,Dusk,123,")),
		text("digits", csvText("tx-pick-3,2024-05-02,Day,12,")))
	if len(result.FileErrors) > 0 || result.Summary.Rejected != 6 {
		t.Errorf("%+v", result)
	}
	_, err := importer.Run(context.Background(), b.st, nil, importer.Options{Feed: "ny-lottery"})
	if models.ErrorCode(err) != models.CodeInvalid || !strings.Contains(err.Error(), "use one of ny-open-data, ") {
		t.Error(err)
	}
}

// TestOrderOfRejections: by line, conflicts among the others, even if there are too many for memory.
func TestOrderOfRejections(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	const rows = 20_000
	var csv strings.Builder
	csv.WriteString("game,date,tod,number\n")
	for i := range rows {
		switch i % 4 {
		case 0, 3: // contradict each other in pairs
			fmt.Fprintf(&csv, "tx-pick-3,%s,Day,%03d\n", noonDate-models.Date(i/4), i%4)
		case 1:
			fmt.Fprintf(&csv, "tx-pick-3,%s,Dusk,%s\n", noonDate, strings.Repeat("x", 30))
		case 2:
			fmt.Fprintf(&csv, "7%s\n", strings.Repeat("é", 300))
		}
	}
	last, reasons := 1, map[models.Reason]int{}
	result, err := importer.Run(context.Background(), b.st, []importer.Source{text("f", csv.String())}, importer.Options{Feed: models.FeedCSV, OnRejection: func(r models.Rejection) error {
		if r.Line != last+1 {
			t.Fatalf("line %d after line %d", r.Line, last)
		}
		if r.Reason == models.ReasonMalformed && r.Value != "7"+strings.Repeat("é", 199) {
			t.Fatalf("value %q", r.Value)
		}
		last = r.Line
		reasons[r.Reason]++
		return nil
	}})
	if err != nil || result.Summary.Rejected != rows || reasons[models.ReasonConflict] != rows/2 {
		t.Fatalf("%+v, %v, %v", result, reasons, err)
	}
	// An error from the report ends the command.
	full := errors.New("disk full")
	_, err = importer.Run(context.Background(), b.st, []importer.Source{dirty, clean}, importer.Options{Feed: models.FeedTexas, OnRejection: func(models.Rejection) error { return full }})
	if !errors.Is(err, full) {
		t.Error(err)
	}
}

var noonDate = models.DateOf(noon)

// TestStalePlan: if draws change between the plan and the merge, the plan is made again, but not for ever.
func TestStalePlan(t *testing.T) {
	onEach(t, func(b *bench) {
		games := 0
		move := func(times int) func(importer.Progress) {
			return func(p importer.Progress) {
				if p.Phase != importer.PhaseWriting || times == 0 {
					return
				}
				times--
				games++
				if _, err := b.st.AddGame(context.Background(), models.Game{
					ID: fmt.Sprintf("game-%d", games), Name: "Game", Digits: 3, Tods: models.NewTodSet(models.Day), Jurisdiction: "ZZ", Timezone: "UTC",
				}); err != nil {
					b.Error(err)
				}
			}
		}
		result, _ := b.run(importer.Options{Feed: models.FeedTexas, Progress: move(2)}, clean)
		if got := counts(result.Summary); got != "lines 2 draws 2 inserted 1 duplicate 1" {
			b.Error(got)
		}
		// In the meantime an operator has set a draw: the second plan respects that.
		once := true
		result, _ = b.run(importer.Options{Feed: models.FeedTexas, Progress: func(p importer.Progress) {
			if p.Phase == importer.PhaseWriting && once {
				once = false
				if _, err := b.st.SetDraw(context.Background(), storeDraw("555")); err != nil {
					b.Error(err)
				}
			}
		}}, changed)
		if got := counts(result.Summary); got != "lines 2 draws 2 inserted 1 overruled 1" {
			b.Error(got)
		}
		wantLines(b, "draws", b.draws(), "tx-pick-3 2024-05-02 Day #1 555 fireball=4 operator r2", nightDraw)

		// A conflict is reported once, however often the plan is made.
		const twice = "Pick 3 Day,5,6,2024,1,2,3\nPick 3 Day,5,6,2024,1,2,4\nPick 3 Day,5,7,2024,1,2,3\n"
		result, rejections := b.run(importer.Options{Feed: models.FeedTexas, Progress: move(1)}, text("f", twice))
		if got := counts(result.Summary); got != "lines 3 draws 3 inserted 1 rejected 2" || len(rejections) != 2 {
			b.Errorf("%s, rejections %q", got, rejections)
		}

		for _, strict := range []bool{false, true} {
			before := b.draws()
			_, err := importer.Run(context.Background(), b.st, []importer.Source{text("f", "Pick 3 Day,1,2,2024,1,2,3\n")}, importer.Options{
				Feed: models.FeedTexas, Strict: strict, Progress: move(1 << 30), Patience: 50 * time.Millisecond,
			})
			if models.ErrorCode(err) != models.CodeUnavailable {
				b.Errorf("strict %v: %v", strict, err)
			}
			wantLines(b, "draws", b.draws(), before...)
		}
	})
}

// TestManyAtOnce: of imports that begin together, each gets its turn.
func TestManyAtOnce(t *testing.T) {
	onEach(t, func(b *bench) {
		const imports, days = 12, 200
		var all sync.WaitGroup
		for i := range imports {
			all.Go(func() {
				var lines strings.Builder
				for day := range days {
					at := models.NewDate(2000+i, time.January, 1) + models.Date(day)
					year, month, of := at.Civil()
					fmt.Fprintf(&lines, "Pick 3 Day,%d,%d,%d,1,2,3\n", month, of, year)
				}
				result, err := importer.Run(context.Background(), b.st, []importer.Source{text("f", lines.String())}, importer.Options{Feed: models.FeedTexas})
				if err != nil || result.Summary.Inserted != days {
					b.Errorf("%+v, %v", result, err)
				}
			})
		}
		all.Wait()
		if n := len(b.draws()); n != imports*days {
			b.Errorf("%d draws", n)
		}
	})
}

// TestCancelled: a cancelled import leaves nothing.
func TestCancelled(t *testing.T) {
	onEach(t, func(b *bench) {
		for _, phase := range []string{importer.PhaseReading, importer.PhaseComparing, importer.PhaseWriting} {
			ctx, cancel := context.WithCancel(context.Background())
			_, err := importer.Run(ctx, b.st, []importer.Source{clean}, importer.Options{Feed: models.FeedTexas, Progress: func(p importer.Progress) {
				if p.Phase == phase {
					cancel()
				}
			}})
			cancel()
			if !errors.Is(err, context.Canceled) {
				b.Errorf("%s: %v", phase, err)
			}
			if draws := b.draws(); len(draws) > 0 {
				b.Errorf("%s: %q", phase, draws)
			}
		}
	})
}

// TestProgress: the phases come in order, with their totals.
func TestProgress(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	var told []string
	b.run(importer.Options{Feed: models.FeedTexas, Progress: func(p importer.Progress) {
		if len(told) == 0 || !strings.HasPrefix(told[len(told)-1], p.Phase) {
			told = append(told, fmt.Sprintf("%s %s of %d", p.Phase, p.File, p.Total))
		}
	}}, clean)
	wantLines(t, "progress", told, fmt.Sprintf("reading clean of %d", clean.Size), "comparing clean of 2", "writing clean of 1")
}
