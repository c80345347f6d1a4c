package store_test

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"lottery/models"
	"lottery/models/store"
	"lottery/models/store/storetest"
)

func TestMain(m *testing.M) { storetest.Main(m) }

// movable runs test on each database, with a clock that test can move. It starts at noon today, so that nothing depends
// on the hour at which the tests run.
func movable(t *testing.T, test func(t *testing.T, st *store.Store, move func(time.Duration))) {
	t.Helper()
	t.Parallel()
	storetest.EachURL(t, func(t *testing.T, url string) {
		var offset atomic.Int64
		offset.Store(int64(time.Until(time.Now().UTC().Truncate(aDay).Add(aDay / 2))))
		st := storetest.OpenURL(t, url, store.Options{
			Now: func() time.Time { return time.Now().Add(time.Duration(offset.Load())) }, Skew: func() time.Duration { return time.Duration(offset.Load()) },
		})
		test(t, st, func(d time.Duration) { offset.Add(int64(d)) })
	})
}

const aDay = 24 * time.Hour

// twoNodes runs test with two stores on one database.
func twoNodes(t *testing.T, test func(t *testing.T, a, b *store.Store)) {
	t.Helper()
	t.Parallel()
	storetest.EachURL(t, func(t *testing.T, url string) {
		test(t, storetest.OpenURL(t, url, store.Options{}), storetest.OpenURL(t, url, store.Options{}))
	})
}

// takenAtOnce lets four workers on both nodes take items until none is left, and fails unless each of the want items
// was taken once. take returns the names of the items it took.
func takenAtOnce(t *testing.T, a, b *store.Store, want int, take func(ctx context.Context, st *store.Store) ([]string, error)) {
	t.Helper()
	var mu sync.Mutex
	times := map[string]int{}
	var workers sync.WaitGroup
	for i := range 4 {
		st := []*store.Store{a, b}[i%2]
		workers.Go(func() {
			for empty := 0; empty < 3; {
				names, err := take(context.Background(), st)
				if err != nil {
					t.Error(err)
					return
				}
				if len(names) == 0 {
					empty++
				}
				mu.Lock()
				for _, name := range names {
					times[name]++
				}
				mu.Unlock()
			}
		})
	}
	workers.Wait()
	for name, n := range times {
		if n != 1 {
			t.Errorf("%s was taken %d times", name, n)
		}
	}
	if len(times) != want {
		t.Errorf("%d of %d were taken", len(times), want)
	}
}

// query returns the rows of any statement, as text.
func query(t *testing.T, db *sql.DB, statement string) [][]string {
	t.Helper()
	rows, err := db.QueryContext(context.Background(), statement)
	if err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
	defer rows.Close()
	columns, _ := rows.Columns()
	var list [][]string
	for rows.Next() {
		cells, into := make([]any, len(columns)), make([]any, len(columns))
		for i := range cells {
			into[i] = &cells[i]
		}
		if err := rows.Scan(into...); err != nil {
			t.Fatal(err)
		}
		texts := make([]string, len(cells))
		for i, cell := range cells {
			if b, ok := cell.([]byte); ok {
				cell = string(b)
			}
			texts[i] = fmt.Sprint(cell)
		}
		list = append(list, texts)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return list
}

// tables returns the names of all tables, sorted.
func tables(t *testing.T, db *sql.DB, url string) []string {
	t.Helper()
	statement := "SELECT table_name FROM information_schema.tables WHERE table_schema = 'public'"
	if strings.HasPrefix(url, "sqlite:") {
		statement = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
	}
	var names []string
	for _, row := range query(t, db, statement) {
		names = append(names, row[0])
	}
	slices.Sort(names)
	return names
}

// fixedNow is the time at which the draws of these tests are imported, and of stores whose clock stands.
var fixedNow = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)

func mustDate(t testing.TB, text string) models.Date {
	t.Helper()
	d, err := models.ParseDate(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func slotAt(t testing.TB, game, day string, tod models.Tod) models.Slot {
	t.Helper()
	return models.Slot{GameID: game, Date: mustDate(t, day), Tod: tod, Sequence: 1}
}

// importedDraw puts a draw with a Fireball into a slot, as the feed csv would.
func importedDraw(t testing.TB, st *store.Store, at models.Slot, number string) {
	t.Helper()
	mergeDraws(t, st, fireballMerge(at, number, false))
}

// mergeDraws applies merges to the draws as they are now.
func mergeDraws(t testing.TB, st *store.Store, merges ...store.Merge) {
	t.Helper()
	version, err := st.DataVersion(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := st.MergeDraws(t.Context(), version.Number, merges, fixedNow); err != nil {
		t.Fatal(err)
	}
}

func fireballMerge(at models.Slot, number string, correct bool) store.Merge {
	return store.Merge{
		Run: models.ImportRun{Feed: models.FeedCSV, Source: "test.csv", FinishedAt: fixedNow},
		Changes: func(yield func(store.DrawChange) bool) {
			yield(store.DrawChange{Slot: at, Number: number, Addons: `{"fireball":"4"}`, Correct: correct})
		},
	}
}

// manyDraws fills slots of several games, out of order.
func manyDraws(t testing.TB, st *store.Store) {
	t.Helper()
	var changes []store.DrawChange
	add := func(game, day string, tod models.Tod, sequence int, number, addons string) {
		at := slotAt(t, game, day, tod)
		at.Sequence = sequence
		changes = append(changes, store.DrawChange{Slot: at, Number: number, Addons: addons})
	}
	add("nc-pick-3", "2020-01-02", models.Day, 1, "001", "")
	add("nc-pick-3", "2020-01-02", models.Day, 2, "002", "")
	add("nc-pick-3", "2020-01-03", models.Evening, 1, "003", `{"greenball":"7"}`)
	add("ny-numbers", "2020-01-02", models.Evening, 1, "004", "")
	add("ny-win-4", "2020-01-02", models.Midday, 1, "0005", "")
	add("tx-daily-4", "2020-01-02", models.Night, 1, "0006", `{"a, b":"\"x\"","fireball":"1"}`)
	add("va-pick-3", "2020-01-01", models.Night, 1, "007", `{"fireball":"2"}`)
	add("va-pick-3", "2020-01-02", models.Day, 1, "008", "")
	mergeDraws(t, st, store.Merge{Run: models.ImportRun{Feed: models.FeedCSV, FinishedAt: fixedNow}, Changes: slices.Values(changes)})
}

// exportedLines summarizes an export: the names of the add-ons, then one line per draw.
func exportedLines(t testing.TB, st *store.Store, f store.DrawFilter) (addons []string, draws string) {
	t.Helper()
	var list []string
	err := st.Export(context.Background(), f, func(names []string) error {
		addons = names
		return nil
	}, func(d *models.Draw) error {
		list = append(list, fmt.Sprintf("%s %s %s %d %s %v", d.Date, d.Tod, d.GameID, d.Sequence, d.Number, map[string]string(d.Addons)))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return addons, strings.Join(list, "\n")
}

// past is the duration of a lock that has already ended, as if its holder had died.
const past = -time.Second
