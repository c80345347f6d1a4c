package main

import (
	"fmt"
	"slices"
	"strings"
)

// demand is one demand of section 10 of the contract.
type demand int

const (
	demandRecent demand = iota
	demandSQL
	demandOthers
	demandRedis
	demandRandom
	demandSize
	demandMemory
	demandReady
	demandImport
	demandAccounts
	demandImporting
	demandLongLists
	demandAllAccounts
	demands
)

// asked holds the demands' wording. The last two are stricter readings of two others.
var asked = [demands]string{
	demandRecent:      "ten-draw recent, by coding and connections: ≥ 0.8 of bare",
	demandSQL:         "ten-draw recent, by connections: ≥ 10 × SQL",
	demandOthers:      "every other path: ≥ 0.6 of bare",
	demandRedis:       "counted in Redis, by number of accounts: ≥ 0.4 of uncounted",
	demandRandom:      "random parameters: within 10 % of repeated ones",
	demandSize:        "10 × the draws: ≤ 10 % of the rate",
	demandMemory:      "1,000,000 draws: ≤ 200 MiB resident",
	demandReady:       "about 3 s from start to ready",
	demandImport:      "1,000,000 draws imported in about 20 s",
	demandAccounts:    "100,000 accounts with keys: same rate",
	demandImporting:   "during imports: p99 < 5 × quiet, no request fails",
	demandLongLists:   "stricter reading: random compressed lists of 1,000 draws, relative to repeated ones (decision 0030)",
	demandAllAccounts: "stricter reading: all 100,000 accounts make requests in turn (decision 0030)",
}

// shown is what the tables showed about each demand.
var shown [demands]struct {
	texts []string
	fails bool
}

// shows records what a table showed about d, and whether d is met.
func shows(d demand, ok bool, format string, args ...any) {
	s := &shown[d]
	s.texts, s.fails = append(s.texts, fmt.Sprintf(format, args...)), s.fails || !ok
}

// printContract prints the table of section 10's demands about which anything was shown.
func printContract() {
	t := newTable("Section 10 of the contract, according to the tables above (medians)", "asked for", "shown", "holds")
	for d, s := range shown {
		if len(s.texts) > 0 {
			t.add(asked[d], strings.Join(s.texts, "; "), holds(!s.fails))
		}
	}
	t.print()
}

// named is figures with what they are of.
type named struct {
	names   []string
	figures []float64
}

func (n *named) add(name string, figure float64) {
	n.names, n.figures = append(n.names, name), append(n.figures, figure)
}

func (n *named) lowest() float64 { return slices.Min(n.figures) }

// String returns the lowest, whose that is, and the highest.
func (n *named) String() string {
	low := n.lowest()
	return fmt.Sprintf("%.2f (%s) … %.2f", low, n.names[slices.Index(n.figures, low)], slices.Max(n.figures))
}
