package web

import (
	"fmt"
	"html/template"
	"strings"

	"lottery/models/catalog"
)

// sumCount says how often the drawn digits add up to Sum, and how often fair digits would.
type sumCount struct {
	Sum      int
	Count    int
	Share    float64 // percent of all draws
	Expected float64 // percent of all draws, with fair digits
}

func sumsOf(all []catalog.Ref, digits int) []sumCount {
	counts := make([]int, 9*digits+1)
	for _, r := range all {
		sum := 0
		for n := r.Number(); n > 0; n /= 10 {
			sum += int(n % 10)
		}
		counts[sum]++
	}
	list := make([]sumCount, len(counts))
	for sum, n := range counts {
		list[sum] = sumCount{sum, n, 100 * float64(n) / float64(len(all)), 100 * catalog.SumShare(digits, sum)}
	}
	return list
}

func drawSums(g *catalog.Game, sums []sumCount) template.HTML {
	const width, height, left, bottom, top = 720, 240, 44, 26, 12
	most := 0.0
	for _, s := range sums {
		most = max(most, s.Share, s.Expected)
	}
	plot := float64(height - bottom - top)
	y := func(share float64) float64 { return top + plot*(1-share/most) }
	d := newDrawing("sums", width, height, "Digit sums of "+g.Name,
		"Bars: the share of draws with each digit sum. Line: what fair, independent digits would give.")
	for part := range 3 {
		share := most * float64(part) / 2
		d.line(left, y(share), width, y(share), "grid")
		d.label(left-8, y(share)+4, "end", "tick", fmt.Sprintf("%.1f%%", share))
	}
	step := float64(width-left) / float64(len(sums))
	var line strings.Builder
	for i, s := range sums {
		x := left + float64(i)*step
		if s.Count > 0 {
			d.rect(x+1, y(s.Share), step-2, y(0)-y(s.Share), "bar", fmt.Sprintf("Sum %d: %s, %.2f%%; expected %.2f%%", s.Sum, counted(s.Count, "draw"), s.Share, s.Expected))
		}
		fmt.Fprintf(&line, "%.1f,%.1f ", x+step/2, y(s.Expected))
		if s.Sum%5 == 0 {
			d.label(x+step/2, height-6, "middle", "tick", fmt.Sprint(s.Sum))
		}
	}
	d.path(strings.TrimSpace(line.String()), "expected")
	return d.done()
}
