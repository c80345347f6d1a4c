package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/glebarez/sqlite"
	"gorm.io/driver/postgres"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"lottery/models"
	"lottery/models/secret"
)

// benchGame is a made-up game: four tods a day up to benchLastDay.
type benchGame struct {
	id     string
	digits int
	draws  int
}

const benchTods = 4

var benchLastDay = models.NewDate(2020, 12, 31)

// benchGames is the data of most tables: 320,000 draws, so that a search has more than 1,000 answers.
var benchGames = []benchGame{
	{"bench-pick-4", 4, 60_000}, {"bench-a", 3, 50_000}, {"bench-b", 3, 50_000}, {"bench-c", 3, 50_000}, {"bench-d", 3, 50_000},
	{"bench-pick-5", 5, 60_000},
}

// tenGames returns the given number of draws spread over ten games, for the tables about data size.
func tenGames(draws int) (games []benchGame) {
	for i := range 10 {
		games = append(games, benchGame{fmt.Sprintf("bench-%d", i), 3 + i%2, draws / 10})
	}
	return games
}

// writeDraws writes the games' draws in the form of feed csv; the same every time.
func writeDraws(b *testing.B, games ...benchGame) string {
	b.Helper()
	var text bytes.Buffer
	text.WriteString("game,date,tod,number\n")
	tods := [benchTods]models.Tod{models.Morning, models.Day, models.Evening, models.Night}
	for n, g := range games {
		rng := rand.New(rand.NewPCG(uint64(n), uint64(g.draws)))
		days := (g.draws + benchTods - 1) / benchTods
		for i := range g.draws {
			number := make([]byte, g.digits)
			for d := range number {
				number[d] = byte('0' + rng.IntN(10))
			}
			fmt.Fprintf(&text, "%s,%s,%s,%s\n", g.id, benchLastDay-models.Date(days-1-i/benchTods), tods[i%benchTods], number)
		}
	}
	path := filepath.Join(b.TempDir(), "draws.csv")
	if err := os.WriteFile(path, text.Bytes(), 0o600); err != nil {
		b.Fatal(err)
	}
	return path
}

// fill imports games into the empty database at url. It returns a key that will not run out, and how long the import
// took.
func fill(b *testing.B, url string, games ...benchGame) (key string, took time.Duration) {
	b.Helper()
	addGames(b, url, games...)
	file := writeDraws(b, games...)
	began := time.Now()
	command(b, url, "draws", "import", "--feed", "csv", file)
	took = time.Since(began)
	key = newKey(b, url, "bench@example.com")
	command(b, url, "accounts", "set-limit", "bench@example.com", "1000000000")
	return key, took
}

func addGames(b *testing.B, url string, games ...benchGame) {
	b.Helper()
	for _, g := range games {
		command(b, url, "games", "add", "--id", g.id, "--name", strings.ToUpper(g.id), "--digits", fmt.Sprint(g.digits),
			"--tods", "Morning,Day,Evening,Night", "--jurisdiction", "XX", "--timezone", "UTC")
	}
}

// command runs lotteryadmin on the database at url.
func command(b *testing.B, url string, args ...string) {
	b.Helper()
	if out, code := admin(b, url, args...); code != 0 {
		b.Fatalf("%v: %d %s", args, code, out)
	}
}

// openGORM returns the database as an application without the product's index would open it.
func openGORM(url string) (*gorm.DB, error) {
	dialector := postgres.Open(url)
	if path, ok := strings.CutPrefix(url, "sqlite:"); ok {
		dialector = sqlite.Open("file:" + path + "?_pragma=busy_timeout(5000)&_pragma=journal_mode(WAL)&_pragma=synchronous(NORMAL)")
	}
	db, err := gorm.Open(dialector, &gorm.Config{Logger: logger.Discard, PrepareStmt: true})
	if err != nil {
		return nil, err
	}
	pool, err := db.DB()
	if err != nil {
		return nil, err
	}
	pool.SetMaxOpenConns(8)
	pool.SetMaxIdleConns(8)
	return db, nil
}

// inEach does work in all the databases concurrently.
func inEach(b *testing.B, work func(db *gorm.DB) error, urls ...string) {
	b.Helper()
	done := make(chan error)
	for _, url := range urls {
		go func() { done <- inOne(url, work) }()
	}
	for range urls {
		if err := <-done; err != nil {
			b.Fatal(err)
		}
	}
}

func inOne(url string, work func(db *gorm.DB) error) error {
	db, err := openGORM(url)
	if err != nil {
		return err
	}
	pool, err := db.DB()
	if err != nil {
		return err
	}
	return errors.Join(work(db.WithContext(context.Background())), pool.Close())
}

// fillAccounts makes n Pro accounts, the same in each database and in one transaction there, and returns their keys.
func fillAccounts(b *testing.B, n int, urls ...string) []string {
	b.Helper()
	keys := make([]string, n)
	accounts, stored := make([]models.Account, n), make([]models.APIKey, n)
	pro, now := models.PlanPro, time.Now().UTC()
	for i := range n {
		email := fmt.Sprintf("a%d@example.com", i)
		accounts[i] = models.Account{ID: secret.NewID("acc_"), Email: &email, EmailKey: &email, Status: models.AccountActive, GrantedPlan: &pro, CreatedAt: now}
		keys[i] = secret.NewKey()
		hash := secret.Hash(keys[i])
		stored[i] = models.APIKey{ID: secret.NewID("key_"), AccountID: accounts[i].ID, Prefix: keys[i][:secret.PrefixLength], Hash: hash[:], CreatedAt: now}
	}
	inEach(b, func(db *gorm.DB) error {
		return db.Transaction(func(tx *gorm.DB) error {
			if err := tx.CreateInBatches(slices.Clone(accounts), 100).Error; err != nil {
				return err
			}
			return tx.CreateInBatches(slices.Clone(stored), 100).Error
		})
	}, urls...)
	return keys
}
