package api

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"testing"

	"lottery/api/deflate"
	"lottery/models"
	"lottery/models/catalog"
)

// For games of every width, over ranges with many draws, few and none, statsEncoder writes what encoding/json does.
func TestStatsAreWhatEncodingJSONMakes(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(6, 6))
	b := catalog.NewBuilder(models.DataVersion{Token: "stats"})
	const days = 700
	first := models.NewDate(2020, 1, 1)
	for digits := 1; digits <= models.MaxDigits; digits++ {
		g := b.Game(models.Game{ID: fmt.Sprintf("width-%d", digits), Name: `Wi"dth <é> & more`, Digits: digits, Jurisdiction: "XX", Timezone: "UTC"})
		for day := range models.Date(days) {
			for _, tod := range []models.Tod{models.Day, models.Evening} {
				if err := g.Add(first+day, tod, 1, fmt.Appendf(nil, "%0*d", digits, rng.Uint64()%uint64(math.Pow10(digits)))); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	c, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range c.Games() {
		for i := range 100 {
			from := first + models.Date(rng.IntN(days+10)) - 5
			to := from + models.Date(rng.IntN(1+rng.IntN(days)))
			if i == 0 {
				from, to = models.FirstDate, models.LastDate
			}
			s := g.Stats(from, to, []models.Tod{0, models.Day, models.Night}[rng.IntN(3)])
			want, err := json.Marshal(s)
			if err != nil {
				t.Fatal(err)
			}
			e := statsEncoder{marking: true}
			got := e.append([]byte("x"), s)
			if string(got) != "x"+string(want) {
				t.Fatalf("%s from %s to %s:\n%s\nwant\n%s", g.ID, from, to, got, want)
			}
			r, err := gzip.NewReader(bytes.NewReader(deflate.AppendMarked(nil, got, e.marks)))
			if err != nil {
				t.Fatal(err)
			}
			if read, err := io.ReadAll(r); err != nil || !bytes.Equal(read, got) {
				t.Fatalf("%s from %s to %s, compressed: %v\n%s\nwant\n%s", g.ID, from, to, err, read, got)
			}
		}
	}
}

func TestSharesAreWhatEncodingJSONMakes(t *testing.T) {
	t.Parallel()
	for _, share := range []float64{0, 1, 0.1, 1.0 / 3, 1e-5, 1e-6, 9.99e-7, 1e-7, 2.5e-10, 1e-12} {
		want, err := json.Marshal(share)
		if err != nil {
			t.Fatal(err)
		}
		if got := appendNumber(nil, share); string(got) != string(want) {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

func BenchmarkStatsEncoding(b *testing.B) {
	builder := catalog.NewBuilder(models.DataVersion{Token: "stats"})
	g := builder.Game(models.Game{ID: "pick-4", Name: "Pick 4", Digits: 4, Jurisdiction: "XX", Timezone: "UTC"})
	rng := rand.New(rand.NewPCG(6, 6))
	for day := range models.Date(5000) {
		if err := g.Add(models.NewDate(2000, 1, 1)+day, models.Day, 1, fmt.Appendf(nil, "%04d", rng.IntN(10_000))); err != nil {
			b.Fatal(err)
		}
	}
	c, err := builder.Build()
	if err != nil {
		b.Fatal(err)
	}
	s := c.Games()[0].Stats(models.FirstDate, models.LastDate, 0)
	b.Run("append", func(b *testing.B) {
		var out []byte
		for b.Loop() {
			var e statsEncoder
			out = e.append(out[:0], s)
		}
	})
	b.Run("encoding/json", func(b *testing.B) {
		for b.Loop() {
			_, _ = json.Marshal(s)
		}
	})
}
