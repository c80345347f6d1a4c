package importer_test

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"lottery/jobs/importer"
	"lottery/models"
	"lottery/models/store"
	"lottery/models/store/storetest"
)

func TestMain(m *testing.M) { storetest.Main(m) }

// bench is a database and a clock.
type bench struct {
	*testing.T
	st  *store.Store
	url string
	now time.Time
}

// noon is the clock of every test that does not set another.
var noon = time.Date(2024, time.June, 1, 12, 0, 0, 0, time.UTC)

func newBench(t *testing.T) *bench {
	t.Helper()
	url := storetest.URL(t)
	return &bench{T: t, st: storetest.OpenURL(t, url, store.Options{}), url: url, now: noon}
}

// onEach runs test on each database.
func onEach(t *testing.T, test func(b *bench)) {
	t.Helper()
	t.Parallel()
	storetest.EachURL(t, func(t *testing.T, url string) {
		t.Helper()
		test(&bench{T: t, st: storetest.OpenURL(t, url, store.Options{}), url: url, now: noon})
	})
}

// text returns a source of the given name.
func text(name, content string) importer.Source {
	return importer.Source{Name: name, Size: int64(len(content)), Open: func(context.Context) (io.ReadCloser, error) {
		return io.NopCloser(strings.NewReader(content)), nil
	}}
}

// csvText returns a CSV with the given rows below the usual header.
func csvText(rows ...string) string {
	return "game,date,tod,number,fireball\n" + strings.Join(rows, "\n") + "\n"
}

// run imports and returns the result, with the rejections as lines.
func (b *bench) run(opts importer.Options, sources ...importer.Source) (importer.Result, []string) {
	b.Helper()
	var rejections []string
	opts.Now = func() time.Time { return b.now }
	opts.OnRejection = func(r models.Rejection) error {
		rejections = append(rejections, fmt.Sprintf("%s:%d %s %q %s: %s", r.File, r.Line, r.Column, r.Value, r.Reason, r.Detail))
		return nil
	}
	result, err := importer.Run(context.Background(), b.st, sources, opts)
	if err != nil {
		b.Fatal(err)
	}
	b.consistent(result, len(rejections))
	return result, rejections
}

// add imports one CSV that must be clean.
func (b *bench) add(feed string, content string) {
	b.Helper()
	result, rejections := b.run(importer.Options{Feed: feed}, text("before", content))
	if len(rejections) > 0 || len(result.FileErrors) > 0 {
		b.Fatalf("%v %v", rejections, result.FileErrors)
	}
}

// consistent checks what must hold for every summary.
func (b *bench) consistent(result importer.Result, rejections int) {
	b.Helper()
	s := result.Summary
	if s.Draws != s.Inserted+s.Unchanged+s.Corrected+s.Duplicate+s.Overruled+s.Rejected {
		b.Errorf("the summary does not add up: %+v", s)
	}
	reasons := 0
	for n := range maps.Values(s.Rejections) {
		reasons += n
	}
	if s.Rejections == nil || reasons != s.Rejected || rejections != s.Rejected {
		b.Errorf("%d rejections reported, %d counted, %v by reason", rejections, s.Rejected, s.Rejections)
	}
}

// counts formats a summary, without the zeros.
func counts(s models.ImportSummary) string {
	var parts []string
	for _, c := range []struct {
		name string
		n    int
	}{
		{"lines", s.Lines}, {"draws", s.Draws}, {"inserted", s.Inserted}, {"unchanged", s.Unchanged}, {"corrected", s.Corrected},
		{"duplicate", s.Duplicate}, {"overruled", s.Overruled}, {"rejected", s.Rejected}, {"skipped", s.Skipped},
	} {
		if c.n != 0 {
			parts = append(parts, fmt.Sprintf("%s %d", c.name, c.n))
		}
	}
	return strings.Join(parts, " ")
}

// draws returns everything that the database holds, one line per draw.
func (b *bench) draws() []string {
	b.Helper()
	games, err := b.st.Games(context.Background())
	if err != nil {
		b.Fatal(err)
	}
	var lines []string
	for _, g := range games {
		err := b.st.StoredDraws(context.Background(), g.ID, models.FirstDate, models.LastDate, func(d *models.Draw) error {
			lines = append(lines, drawLine(d))
			return nil
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	return lines
}

func drawLine(d *models.Draw) string {
	line := fmt.Sprintf("%s %s %s #%d %s", d.GameID, d.Date, d.Tod, d.Sequence, d.Number)
	for _, name := range slices.Sorted(maps.Keys(d.Addons)) {
		line += " " + name + "=" + d.Addons[name]
	}
	line += fmt.Sprintf(" %s r%d", d.Feed, d.Revision)
	if d.Void {
		line += " void"
	}
	return line
}

// query returns the rows of a query, fields joined by spaces.
func (b *bench) query(query string) []string {
	b.Helper()
	db := storetest.SQL(b, b.url)
	defer db.Close()
	rows, err := db.Query(query)
	if err != nil {
		b.Fatal(err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		b.Fatal(err)
	}
	var lines []string
	for rows.Next() {
		fields := make([]any, len(columns))
		into := make([]any, len(columns))
		for i := range fields {
			into[i] = &fields[i]
		}
		if err := rows.Scan(into...); err != nil {
			b.Fatal(err)
		}
		lines = append(lines, strings.TrimSuffix(fmt.Sprintln(fields...), "\n"))
	}
	if err := rows.Err(); err != nil {
		b.Fatal(err)
	}
	return lines
}

func (b *bench) version() models.DataVersion {
	b.Helper()
	v, err := b.st.DataVersion(context.Background())
	if err != nil {
		b.Fatal(err)
	}
	return v
}

// wantLines compares lines.
func wantLines(t testing.TB, what string, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s:\n got %s\nwant %s", what, strings.Join(got, "\n     "), strings.Join(want, "\n     "))
	}
}
