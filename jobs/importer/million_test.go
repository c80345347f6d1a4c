package importer_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"lottery/jobs/importer"
	"lottery/models"
	"lottery/models/store"
	"lottery/models/store/storetest"
)

// TestMillion measures an import of a million rows: its duration, the process's peak memory, and how long others waited
// for the write lock. It runs only if LOTTERY_MILLION is set; run one database at a time, since the peak is the
// process's:
//
//	LOTTERY_MILLION=1 go test -run 'TestMillion/sqlite' -v ./jobs/importer
func TestMillion(t *testing.T) {
	if os.Getenv("LOTTERY_MILLION") == "" {
		t.Skip("set LOTTERY_MILLION=1 to measure a million rows")
	}
	const rows = 1_000_000
	storetest.EachURL(t, func(t *testing.T, url string) {
		st := storetest.OpenURL(t, url, store.Options{})
		path := writeMillion(t, st, rows)
		source := importer.Source{Name: "million.csv", Size: -1, Open: func(context.Context) (io.ReadCloser, error) { return os.Open(path) }}
		for _, want := range []models.ImportSummary{{Inserted: rows}, {Unchanged: rows}} {
			waited := watchLock(t, url)
			started := time.Now()
			result, err := importer.Run(context.Background(), st, []importer.Source{source}, importer.Options{
				Feed: models.FeedCSV, OnRejection: func(models.Rejection) error { return nil },
			})
			took := time.Since(started)
			if err != nil || result.Summary.Inserted != want.Inserted || result.Summary.Unchanged != want.Unchanged {
				t.Fatalf("%+v, %v", result, err)
			}
			t.Logf("%d rows, %+v: %.1f s, peak %s, longest wait for the lock %.2f s", rows, want, took.Seconds(), peakMemory(t), waited().Seconds())
		}
	})
}

// writeMillion writes a CSV of n rows in the order of `draws export`, for games that it adds.
func writeMillion(t *testing.T, st *store.Store, n int) string {
	t.Helper()
	const games = 25
	for g := range games {
		_, err := st.AddGame(context.Background(), models.Game{
			ID: fmt.Sprintf("many-pick-%02d", g), Name: "Many", Digits: 4, Tods: models.NewTodSet(models.Midday, models.Evening),
			Jurisdiction: "ZZ", Timezone: "UTC",
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(t.TempDir(), "million.csv")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	out := bufio.NewWriter(file)
	fmt.Fprintln(out, "game,date,tod,sequence,number,fireball")
	for i := range n {
		date := models.NewDate(1965, time.January, 1) + models.Date(i/(2*games))
		tod := models.Midday
		if i/games%2 == 1 {
			tod = models.Evening
		}
		fmt.Fprintf(out, "many-pick-%02d,%s,%s,1,%04d,%s\n", i%games, date, tod, i*7919%10000, []string{"", "3", "7"}[i%3])
	}
	if err := out.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	runtime.GC()
	return path
}

// watchLock takes the write lock again and again, as counters do, and returns the longest wait.
func watchLock(t *testing.T, url string) func() time.Duration {
	t.Helper()
	lock := "SELECT number FROM data_version WHERE id = 1 FOR UPDATE"
	if strings.HasPrefix(url, "sqlite:") {
		url, lock = url+"?_pragma=busy_timeout(60000)&_txlock=immediate", "SELECT 1"
	}
	db := storetest.SQL(t, url)
	var (
		longest time.Duration
		stop    = make(chan struct{})
		done    sync.WaitGroup
	)
	done.Go(func() {
		for {
			select {
			case <-stop:
				return
			case <-time.After(5 * time.Millisecond):
			}
			asked := time.Now()
			tx, err := db.Begin()
			if err == nil {
				_, err = tx.Exec(lock)
				longest = max(longest, time.Since(asked))
				_ = tx.Rollback()
			}
			if err != nil {
				t.Errorf("take the lock: %v", err)
				return
			}
		}
	})
	return func() time.Duration {
		close(stop)
		done.Wait()
		_ = db.Close()
		return longest
	}
}

// peakMemory returns the process's peak memory, as Linux reports it.
func peakMemory(t *testing.T) string {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return "unknown"
	}
	_, after, _ := strings.Cut(string(status), "VmHWM:")
	line, _, _ := strings.Cut(after, "\n")
	return strings.TrimSpace(line)
}
