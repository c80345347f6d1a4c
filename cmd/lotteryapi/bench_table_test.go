package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"unicode/utf8"
)

// table prints as Markdown whose columns line up in a terminal, so that docs/performance.md can hold it as printed.
type table struct {
	title string
	rows  [][]string
}

func newTable(title string, columns ...string) *table { return &table{title, [][]string{columns}} }

func (t *table) add(cells ...string) { t.rows = append(t.rows, cells) }

func (t *table) print() {
	widths := make([]int, len(t.rows[0]))
	for _, row := range t.rows {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	fmt.Fprintf(os.Stdout, "\n%s\n\n", t.title)
	for n, row := range t.rows {
		for i, cell := range row {
			fmt.Fprint(os.Stdout, "| ", cell, strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell)), " ")
		}
		fmt.Fprintln(os.Stdout, "|")
		if n == 0 {
			for _, width := range widths {
				fmt.Fprint(os.Stdout, "|", strings.Repeat("-", width+2))
			}
			fmt.Fprintln(os.Stdout, "|")
		}
	}
	fmt.Fprintln(os.Stdout)
}

// spread formats a median with the lowest and the highest.
func spread(format string, values []float64) string {
	return fmt.Sprintf(format+" ("+format+"…"+format+")", median(values), slices.Min(values), slices.Max(values))
}

func rate(s series) string { return fmt.Sprintf("%.0f", median(s.rates())) }

// tails returns the median p50 and p99 in milliseconds.
func tails(s series) string { return fmt.Sprintf("%.2g/%.2g", s.p50(), s.p99()) }

func holds(ok bool) string {
	if ok {
		return "yes"
	}
	return "**no**"
}
