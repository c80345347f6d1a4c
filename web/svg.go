package web

import (
	"fmt"
	"html"
	"html/template"
	"strings"
)

// drawing builds an SVG. Its colors are classes of the style sheet, so that they follow the light or dark scheme.
type drawing struct{ b strings.Builder }

// newDrawing begins an SVG with a size in its own units; it scales with the page. title and text describe it to screen
// readers; the page has the same numbers in a table.
func newDrawing(id string, width, height int, title, text string) *drawing {
	d := &drawing{}
	fmt.Fprintf(&d.b, `<svg class="chart" viewBox="0 0 %d %d" width="%d" height="%d" role="img" aria-labelledby="%s-t %s-d"><title id="%s-t">%s</title><desc id="%s-d">%s</desc>`,
		width, height, width, height, id, id, id, html.EscapeString(title), id, html.EscapeString(text))
	return d
}

func (d *drawing) rect(x, y, w, h float64, class, tip string) {
	fmt.Fprintf(&d.b, `<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" rx="2" class="%s">`, x, y, w, h, class)
	if tip != "" {
		fmt.Fprintf(&d.b, `<title>%s</title>`, html.EscapeString(tip))
	}
	d.b.WriteString(`</rect>`)
}

func (d *drawing) line(x1, y1, x2, y2 float64, class string) {
	fmt.Fprintf(&d.b, `<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" class="%s"/>`, x1, y1, x2, y2, class)
}

// label writes text; anchor is start, middle or end.
func (d *drawing) label(x, y float64, anchor, class, text string) {
	fmt.Fprintf(&d.b, `<text x="%.1f" y="%.1f" text-anchor="%s" class="%s">%s</text>`, x, y, anchor, class, html.EscapeString(text))
}

func (d *drawing) path(points string, class string) {
	fmt.Fprintf(&d.b, `<polyline points="%s" class="%s"/>`, points, class)
}

func (d *drawing) done() template.HTML {
	d.b.WriteString("</svg>")
	return template.HTML(d.b.String()) //nolint:gosec // G203: texts are escaped where they are written
}

// roundUp rounds n up to 1, 2 or 5 times a power of ten, for the top of an axis.
func roundUp(n int64) int64 {
	for step := int64(1); ; step *= 10 {
		for _, f := range []int64{1, 2, 5} {
			if n <= f*step {
				return f * step
			}
		}
	}
}

// usageChart draws the requests per day, oldest first. It shows the daily limit if that is at most four times the
// busiest day.
func usageChart(days []dayCount, limit int64) template.HTML {
	const width, height, left, bottom, top = 720, 228, 44, 26, 22
	most, total := int64(1), int64(0)
	for _, d := range days {
		most = max(most, d.Requests)
		total += d.Requests
	}
	showLimit := limit > 0 && limit <= 4*most
	scale := most
	if showLimit {
		scale = max(scale, limit)
	}
	scale = max(roundUp(scale), 10)
	plot := float64(height - bottom - top)
	y := func(n int64) float64 { return top + plot*(1-float64(n)/float64(scale)) }
	d := newDrawing("usage", width, height, "Requests per day",
		fmt.Sprintf("%s in the last %d days; the busiest day had %s.", counted(total, "request"), len(days), thousands(most*min(total, 1))))
	for _, part := range []int64{0, 1, 2} {
		n := scale * part / 2
		d.line(left, y(n), width, y(n), "grid")
		d.label(left-8, y(n)+4, "end", "tick", thousands(n))
	}
	step := float64(width-left) / float64(len(days))
	for i := range days {
		day := days[len(days)-1-i]
		x := left + float64(i)*step
		tip := humanDay(day.Day) + ": " + counted(day.Requests, "request")
		if day.Requests == 0 {
			d.rect(x+2, y(0)-1, step-4, 1, "bar-none", tip)
		} else {
			d.rect(x+2, min(y(day.Requests), y(0)-2), step-4, max(2, y(0)-y(day.Requests)), "bar", tip)
		}
		if i%7 == 1 {
			at, anchor := x+step/2, "middle"
			if i == len(days)-1 {
				at, anchor = width, "end"
			}
			d.label(at, height-6, anchor, "tick", day.Day.Time().Format("Jan 2"))
		}
	}
	if showLimit {
		d.line(left, y(limit), width, y(limit), "limit")
		d.label(width, y(limit)-5, "end", "tick-strong", "limit "+thousands(limit))
	}
	return d.done()
}
