package web

import (
	"fmt"
	"html/template"
	"math"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"

	"lottery/models"
	"lottery/models/catalog"
)

// digitHeat counts how often each digit came up in each position.
type digitHeat struct {
	Rows  []heatRow // by digit, 0 first
	Draws int
}

type heatRow struct {
	Digit  string
	Counts []int // by position
	Total  int
	Share  float64 // of all drawn digits, in percent
}

func heatOf(stats *catalog.Stats) digitHeat {
	h := digitHeat{Draws: stats.TotalDraws}
	for _, d := range stats.HotDigits {
		h.Rows = append(h.Rows, heatRow{d.Digit, d.ByPosition, d.Count, d.Share * 100})
	}
	slices.SortFunc(h.Rows, func(a, b heatRow) int { return strings.Compare(a.Digit, b.Digit) })
	return h
}

// level grades how many standard deviations a count is from what chance gives, from 0 (far below) to 6 (far above).
// Even fair digits reach every level now and then.
func level(count, draws int) int {
	expected := float64(draws) / 10
	z := (float64(count) - expected) / math.Sqrt(expected*0.9)
	switch {
	case z < -2:
		return 0
	case z < -1:
		return 1
	case z < -0.33:
		return 2
	case z <= 0.33:
		return 3
	case z <= 1:
		return 4
	case z <= 2:
		return 5
	default:
		return 6
	}
}

func (h *digitHeat) draw(g *catalog.Game) template.HTML {
	const cell, tall, left, top = 60, 46, 64, 26
	d := newDrawing("heat", left+10*cell, top+g.Digits*tall, "How often each digit came up in each position of "+g.Name,
		fmt.Sprintf("Ten digits in %s over %s. Chance alone gives each about %s.", models.Count(g.Digits, "position"), counted(h.Draws, "draw"), strings.TrimSuffix(fmt.Sprintf("%s.%d", thousands(h.Draws/10), h.Draws%10), ".0")))
	for digit := range h.Rows {
		d.label(left+float64(digit)*cell+cell/2, 16, "middle", "tick-strong", h.Rows[digit].Digit)
	}
	for place := range g.Digits {
		y := float64(top + place*tall)
		d.label(left-10, y+tall/2+4, "end", "tick", humanize.Ordinal(place+1))
		for digit := range h.Rows {
			n := h.Rows[digit].Counts[place]
			x := float64(left + digit*cell)
			d.rect(x+1, y+1, cell-2, tall-2, fmt.Sprintf("heat-%d", level(n, h.Draws)),
				fmt.Sprintf("Digit %s in position %d: %s, %.1f%%", h.Rows[digit].Digit, place+1, counted(n, "time"), 100*float64(n)/float64(h.Draws)))
			d.label(x+cell/2, y+tall/2+4, "middle", fmt.Sprintf("heat-text-%d", level(n, h.Draws)), thousands(n))
		}
	}
	return d.done()
}
