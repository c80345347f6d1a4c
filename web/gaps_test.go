package web_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"lottery/models"
	"lottery/models/catalog"
	"lottery/web"
)

// Months are colored by the days that are missing, from the first draw to the last.
func TestGaps(t *testing.T) {
	t.Parallel()
	h := open(t, func(d *web.Deps) {
		b := catalog.NewBuilder(models.DataVersion{Number: 2, Token: "v2"})
		game := b.Game(models.Game{ID: "ny-numbers", Name: "Numbers", Digits: 3, Tods: models.NewTodSet(models.Midday, models.Evening)})
		for day := models.NewDate(2024, time.May, 31); day <= models.NewDate(2024, time.July, 5); day++ {
			if _, month, d := day.Civil(); month == time.July && d < 5 || month == time.June && d >= 10 && d < 13 {
				continue
			}
			if err := game.Add(day, models.Evening, 1, []byte("123")); err != nil {
				t.Fatal(err)
			}
		}
		c, err := b.Build()
		if err != nil {
			t.Fatal(err)
		}
		d.Catalog.Swap(c)
	})
	got := h.person().get("/explore/ny-numbers")
	got.says(t, http.StatusOK, "7 days on which a draw was due have no draw here", `<th scope="row">2024</th><td class="num">7</td>`)
	for _, want := range []string{
		`class="gap-none"[^>]*><title>May 2024: none of 1 draw days missing<`, `class="gap-few"[^>]*><title>June 2024: 3 of 30 draw days missing<`,
		`class="gap-many"[^>]*><title>July 2024: 4 of 5 draw days missing<`,
	} {
		if !regexp.MustCompile(want).MatchString(got.text) {
			t.Errorf("%s is not there", want)
		}
	}
	if n := strings.Count(got.text, `class="gap-out"`); n != 9+1 { // and the legend's
		t.Errorf("%d months are out of the game's time", n-1)
	}
}
