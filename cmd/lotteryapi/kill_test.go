package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"
	"time"

	"database/sql"

	"lottery/models"
	"lottery/models/store/storetest"
)

const (
	kills        = 50
	killDraws    = 4000 // draws of one file, so that an import takes long enough to be hit
	killCorrects = 500  // how many of them correct the previous file's
)

// An import killed at any moment leaves the database as before or as after it, and a rerun completes it.
func TestKilledImports(t *testing.T) {
	t.Parallel()
	storetest.EachEmpty(t, func(t *testing.T, url string) {
		t.Parallel()
		if out, code := admin(t, url, "games", "add", "--id", "kill-pick-5", "--name", "Kill Pick 5", "--digits", "5",
			"--tods", "Morning,Midday,Day,Afternoon,Evening,Night", "--jurisdiction", "XX", "--timezone", "UTC"); code != 0 {
			t.Fatalf("games add: %d %s", code, out)
		}
		db := open(t, url)
		started := time.Now()
		runImport(t, url, killFile(t, 0), -1)
		whole := time.Since(started)
		last := count(t, db)
		if want := (held{draws: killDraws, runs: 1, version: last.version}); last != want {
			t.Fatalf("after the first file: %+v, want %+v", last, want)
		}
		finished, untouched := 0, 0
		for k := 1; k <= kills; k++ {
			file := killFile(t, k)
			after := held{
				draws: last.draws + killDraws - killCorrects, revisions: last.revisions + killCorrects,
				runs: last.runs + 1, version: last.version + 1,
			}
			runImport(t, url, file, time.Duration(rand.Int64N(int64(whole)*11/10)))
			alone(t, url, db)
			switch got := count(t, db); got {
			case last:
				untouched++
				runImport(t, url, file, -1)
				if got := count(t, db); got != after {
					t.Fatalf("kill %d: the rerun left %+v, want %+v", k, got, after)
				}
			case after:
				finished++
				runImport(t, url, file, -1) // everything is unchanged: only the run is noted
				after.runs++
				if got := count(t, db); got != after {
					t.Fatalf("kill %d: importing again left %+v, want %+v", k, got, after)
				}
			default:
				t.Fatalf("kill %d left %+v: neither %+v nor %+v", k, got, last, after)
			}
			last = after
		}
		t.Logf("%d kills: %d before, %d after", kills, untouched, finished)
		if untouched == 0 {
			t.Error("no kill hit an import: the test shows nothing")
		}
	})
}

// held is all that an import may change.
type held struct{ draws, revisions, runs, version int }

func count(t *testing.T, db *sql.DB) held {
	t.Helper()
	var h held
	err := db.QueryRowContext(context.Background(), `SELECT (SELECT count(*) FROM draws), (SELECT count(*) FROM draw_revisions),
		(SELECT count(*) FROM import_runs), (SELECT number FROM data_version)`).Scan(&h.draws, &h.revisions, &h.runs, &h.version)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// alone waits until PostgreSQL has noticed that the killed process is gone: until then its session may still be
// working, and may even commit. On SQLite a dead process holds nothing.
func alone(t *testing.T, url string, db *sql.DB) {
	t.Helper()
	if strings.HasPrefix(url, "sqlite:") {
		return
	}
	storetest.Until(t, "the session of a killed import to end", func() bool {
		var others int
		err := db.QueryRowContext(context.Background(), `SELECT count(*) FROM pg_stat_activity
			WHERE datname = current_database() AND pid <> pg_backend_pid()`).Scan(&others)
		if err != nil {
			t.Fatal(err)
		}
		return others == 0
	})
}

func open(t *testing.T, url string) *sql.DB {
	t.Helper()
	db := storetest.SQL(t, url)
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { db.Close() })
	return db
}

// killFile returns file k: it corrects the last killCorrects draws of file k-1 and goes on from there.
func killFile(t *testing.T, k int) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("game,date,tod,number\n")
	first := k * (killDraws - killCorrects)
	day := models.NewDate(1901, 1, 1)
	for i := first; i < first+killDraws; i++ {
		slot, tod := models.Date(i/models.TodCount), models.Tod(i%models.TodCount+1)
		fmt.Fprintf(&b, "kill-pick-5,%s,%s,%05d\n", day+slot, tod, (i*7+k*13)%100000)
	}
	return writeFile(t, b.String())
}

// runImport imports file, and kills the importing process after the delay unless it is negative.
func runImport(t *testing.T, url, file string, delay time.Duration) {
	t.Helper()
	cmd := exec.Command(binary(t, "lotteryadmin"), "--database-url", url, "draws", "import", "--feed", "csv", file)
	out := &storetest.Buffer{}
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if delay >= 0 {
		time.AfterFunc(delay, func() { _ = cmd.Process.Kill() })
	}
	if err := cmd.Wait(); err != nil && delay < 0 {
		t.Fatalf("import: %v\n%s", err, out)
	}
}
