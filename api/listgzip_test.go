package api_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"lottery/models"
	"lottery/models/catalog"
)

// someDraws makes games of every width, with names of many lengths, at a few times of day, on dates near and far.
func someDraws(t testing.TB, seed uint64) (*catalog.Catalog, []string) {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 10))
	b := catalog.NewBuilder(models.DataVersion{Token: fmt.Sprint("some", seed)})
	var ids []string
	for i := range 1 + rng.IntN(12) {
		game := models.Game{
			ID: fmt.Sprintf("some-%d", i), Name: `S"é` + strings.Repeat("o", rng.IntN(1+rng.IntN(90))), Digits: 2 + rng.IntN(4),
			Jurisdiction: "XX", Timezone: "UTC",
		}
		if rng.IntN(8) == 0 {
			game.Digits = 1 + rng.IntN(models.MaxDigits)
		}
		ids = append(ids, game.ID)
		g := b.Game(game)
		date := models.NewDate(2000, 1, 1) + models.Date(rng.IntN(3000))
		few := 1 + rng.Uint64N(uint64(math.Pow10(game.Digits))) // a small set of numbers, so that some repeat
		for range 1 + rng.IntN(1500) {
			date += models.Date(1 + rng.IntN(1+rng.IntN(40)))
			for tod := models.Tod(1); int(tod) <= models.TodCount; tod++ {
				if rng.IntN(3) > 0 {
					continue
				}
				if err := g.Add(date, tod, 1, fmt.Appendf(nil, "%0*d", game.Digits, rng.Uint64N(few))); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	cat, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	return cat, ids
}

// Whatever a list contains and however long it is, the standard library decompresses its gzip to the list.
func TestListGzip(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	longest := 0
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(seed, 11))
		cat, games := someDraws(t, seed)
		s.live.Swap(cat)
		for range 40 {
			game := games[rng.IntN(len(games))]
			limit := 1 + rng.IntN(1+rng.IntN(1000))
			path := []string{
				fmt.Sprintf("recent?game=%s&count=%d", game, limit),
				fmt.Sprintf("by-sum?game=%s&sum=%d&limit=%d", game, rng.IntN(30), limit),
				fmt.Sprintf("by-pair?game=%s&pair=%02d&limit=%d", game, rng.IntN(100), limit),
				fmt.Sprintf("search?number=%0*d&limit=%d", 2+rng.IntN(4), rng.IntN(100), limit),
				fmt.Sprintf("history?game=%s&year=%d", game, 2000+rng.IntN(12)),
				fmt.Sprintf("date/%v?order=asc", models.NewDate(2003, 1, 1)+models.Date(rng.IntN(2000))),
			}[rng.IntN(6)]
			path = "/v1/draws/" + path + []string{"&order=asc", ""}[rng.IntN(2)] + []string{"", "&format=csv", "&format=ndjson"}[rng.IntN(3)]
			plain := s.get(t, path, nil)
			if plain.Code != 200 {
				continue // recent has no order, or the sum is impossible
			}
			res := s.get(t, path, map[string]string{"Accept-Encoding": "gzip"})
			coded, want := res.Header().Get("Content-Encoding") == "gzip", plain.Body.String()
			if coded != (len(want) > 1<<10) {
				t.Fatalf("seed %d, %s: %d bytes are compressed: %v", seed, path, len(want), coded)
			}
			var body string
			if coded {
				body = unzipped(t, res)
			} else {
				body = res.Body.String()
			}
			longest = max(longest, len(body))
			if body != want {
				n := 0
				for n < min(len(body), len(want)) && body[n] == want[n] {
					n++
				}
				t.Fatalf("seed %d, %s: %d bytes, plain %d; alike up to %d: %.300s", seed, path, len(body), len(want), n, want[max(0, n-200):])
			}
		}
	}
	if longest < 200_000 {
		t.Errorf("the longest list has %d bytes", longest)
	}
}

// A list's gzip is at most half as long again as the standard library's, plus a thousand bytes for the
// first record and the end.
func TestListGzipIsShort(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	b := catalog.NewBuilder(models.DataVersion{Token: "short"})
	rng := rand.New(rand.NewPCG(1, 12))
	for digits := 3; digits <= 5; digits++ {
		g := b.Game(models.Game{ID: fmt.Sprintf("xx-pick-%d", digits), Name: fmt.Sprintf("State Pick %d", digits), Digits: digits, Jurisdiction: "XX", Timezone: "UTC"})
		for day := range 8000 {
			for _, tod := range []models.Tod{models.Day, models.Evening} {
				if err := g.Add(models.NewDate(2000, 1, 1)+models.Date(day), tod, 1, fmt.Appendf(nil, "%0*d", digits, rng.Uint64N(uint64(math.Pow10(digits))))); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	cat, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	s.live.Swap(cat)
	for _, path := range []string{
		"recent?game=xx-pick-3&count=13", "recent?game=xx-pick-4&count=100", "recent?game=xx-pick-5&count=1000", "recent?game=xx-pick-4&count=1000",
		"by-sum?game=xx-pick-4&sum=18&limit=1000", "by-pair?game=xx-pick-4&pair=12&limit=1000", "search?number=123&limit=1000",
		"history?game=xx-pick-3&year=2015",
	} {
		for _, format := range []string{"json", "csv", "ndjson"} {
			path := "/v1/draws/" + path + "&format=" + format
			text := s.get(t, path, nil).Body.Bytes()
			ours := s.get(t, path, map[string]string{"Accept-Encoding": "gzip"}).Body.Len()
			var std bytes.Buffer
			w := gzip.NewWriter(&std)
			if _, err := w.Write(text); err != nil || w.Close() != nil {
				t.Fatal(err)
			}
			if most := std.Len()*3/2 + 1000; ours > most {
				t.Errorf("%s: %d bytes, the standard library makes %d: at most %d are allowed", path, ours, std.Len(), most)
			}
		}
	}
}

func BenchmarkListGzip(b *testing.B) {
	for _, draws := range []int{10, 100, 150} { // longer ones are cached
		b.Run(fmt.Sprint(draws), func(b *testing.B) {
			ask := asking(b, fmt.Sprintf("%s&count=%d", tenDraws, draws), "gzip")
			for b.Loop() {
				ask()
			}
		})
	}
}
