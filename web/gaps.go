package web

import (
	"fmt"
	"html/template"
	"time"

	"lottery/models"
	"lottery/models/catalog"
)

// gapCalendar counts, by year and month, the days on which a draw of a game was due but we have none.
type gapCalendar struct {
	Years   []gapYear // newest first
	Missing int
}

type gapYear struct {
	Year   int
	Months [12]gapMonth
	Total  int
}

// gapMonth is one month. Due counts the days on which a draw was due or made, Missing those of them that have none. Due
// is 0 in months before the first draw or after the last.
type gapMonth struct{ Due, Missing int }

func gapsOf(all []catalog.Ref, g *catalog.Game, of *models.Game) gapCalendar {
	drawn := make(map[models.Date]bool, len(all))
	for _, r := range all {
		drawn[r.Date()] = true
	}
	var c gapCalendar
	last, _, _ := g.Last().Civil()
	first, _, _ := g.First().Civil()
	for year := last; year >= first; year-- {
		c.Years = append(c.Years, gapYear{Year: year})
	}
	for day := g.First(); day <= g.Last(); day++ {
		if of.DrawDays.On(day, of.Tods|g.Tods()) == 0 && !drawn[day] {
			continue
		}
		year, month, _ := day.Civil()
		y := &c.Years[last-year]
		y.Months[month-1].Due++
		if !drawn[day] {
			y.Months[month-1].Missing++
			y.Total++
			c.Missing++
		}
	}
	return c
}

func (c *gapCalendar) draw(g *catalog.Game) template.HTML {
	const cell, tall, left, top = 52, 22, 56, 24
	d := newDrawing("gaps", left+12*cell, top+len(c.Years)*tall, "Months of "+g.Name+" by missing days",
		fmt.Sprintf("%s: one row per year, one cell per month. Missing draw days: %s.", models.Count(len(c.Years), "year"), thousands(c.Missing)))
	for m := range 12 {
		d.label(left+float64(m)*cell+cell/2, 15, "middle", "tick", time.Month(m + 1).String()[:3])
	}
	for row, y := range c.Years {
		top := float64(top + row*tall)
		d.label(left-10, top+tall/2+4, "end", "tick", fmt.Sprint(y.Year))
		for m, month := range y.Months {
			class, tip := "gap-out", ""
			name := fmt.Sprintf("%s %d", time.Month(m+1), y.Year)
			switch {
			case month.Due == 0:
			case month.Missing == 0:
				class, tip = "gap-none", fmt.Sprintf("%s: none of %d draw days missing", name, month.Due)
			case month.Missing < 4:
				class, tip = "gap-few", fmt.Sprintf("%s: %d of %d draw days missing", name, month.Missing, month.Due)
			default:
				class, tip = "gap-many", fmt.Sprintf("%s: %d of %d draw days missing", name, month.Missing, month.Due)
			}
			x := left + float64(m)*cell
			d.rect(x+1, top+1, cell-2, tall-2, class, tip)
			if month.Missing > 0 {
				d.label(x+cell/2, top+tall/2+4, "middle", class+"-text", fmt.Sprint(month.Missing))
			}
		}
	}
	return d.done()
}
