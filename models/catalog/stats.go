package catalog

import (
	"sync"

	"lottery/models"
)

// Stats is what the API tells about a game's draws of a range of dates: how often sums, numbers, boxes and
// digits came, beside how often fair, independent digits would bring them. Lists are most frequent first, ties
// by the smaller sum, number or digit. Shares are fractions of 1.
type Stats struct {
	Game          string         `json:"game"`
	GameName      string         `json:"game_name"`
	GameType      string         `json:"game_type"`
	TotalDraws    int            `json:"total_draws"`
	DateRange     DateRange      `json:"date_range"`
	TopSums       []SumStat      `json:"top_sums"`       // at most 10
	HotNumbers    []NumberStat   `json:"hot_numbers"`    // at most 10
	HotBoxes      []BoxStat      `json:"hot_boxes"`      // at most 10
	HotDigits     []DigitStat    `json:"hot_digits"`     // always 10
	OverdueDigits []OverdueDigit `json:"overdue_digits"` // always 10, never drawn first, then longest ago first

	whole bool     // of all dates: kept, and shared
	room  struct { // what the lists point to
		first, last models.Date
		places      [10 * models.MaxDigits]int
		drawn       [10]lastDrawn
	}
}

// lastDrawn is how many draws came after the last one that holds a digit, and its date.
type lastDrawn struct {
	ago  int
	date models.Date
}

// reports is statistics that are done with, to be used again.
var reports = sync.Pool{New: func() any {
	return &Stats{
		TopSums:       make([]SumStat, 0, topCount),
		HotNumbers:    make([]NumberStat, 0, topCount),
		HotBoxes:      make([]BoxStat, 0, topCount),
		HotDigits:     make([]DigitStat, 0, topCount),
		OverdueDigits: make([]OverdueDigit, 0, topCount),
	}
}}

// Release tells that the caller is done with s, which may then become other statistics. Nobody has to call it.
func (s *Stats) Release() {
	if !s.whole {
		reports.Put(s)
	}
}

// DateRange is the dates of the oldest and the newest draw; nil where there are no draws.
type DateRange struct {
	First *models.Date `json:"first"`
	Last  *models.Date `json:"last"`
}

// SumStat is how often the digits added up to Sum.
type SumStat struct {
	Sum           int     `json:"sum"`
	Count         int     `json:"count"`
	Share         float64 `json:"share"`
	ExpectedShare float64 `json:"expected_share"`
}

// NumberStat is how often Number was drawn, and when last.
type NumberStat struct {
	Number        string      `json:"number"`
	Count         int         `json:"count"`
	Share         float64     `json:"share"`
	ExpectedShare float64     `json:"expected_share"`
	LastDate      models.Date `json:"last_date"`
}

// BoxStat is how often the digits of Normalized were drawn in any order, and when last.
type BoxStat struct {
	Normalized    string      `json:"normalized"`
	Count         int         `json:"count"`
	Share         float64     `json:"share"`
	ExpectedShare float64     `json:"expected_share"`
	LastDate      models.Date `json:"last_date"`
}

// DigitStat is how often Digit was drawn: in all places, of which Share is the part, and in each.
type DigitStat struct {
	Digit         string  `json:"digit"`
	Count         int     `json:"count"`
	Share         float64 `json:"share"`
	ExpectedShare float64 `json:"expected_share"`
	ByPosition    []int   `json:"by_position"`
}

// OverdueDigit is how many draws came after the last one that holds Digit: 0 if the newest does, nil if none.
type OverdueDigit struct {
	Digit      string       `json:"digit"`
	DrawsSince *int         `json:"draws_since"`
	LastDate   *models.Date `json:"last_date"`
}

// topCount is how many entries the lists of Stats hold at most.
const topCount = 10

// wholeStats is the statistics of all draws of a game or of one of its tods, made when first asked for.
type wholeStats struct {
	once  sync.Once
	stats *Stats
}

// Stats is the statistics of the draws of a range of dates, both inclusive, and of a tod, or of all for tod 0.
// It may be shared with other callers: do not change it, and say when you are done with it (Release). The statistics of
// all dates are made only once; those of a range are made anew each time, of what was counted when the catalog was built
// and some draws near its ends.
func (g *Game) Stats(from, to models.Date, tod models.Tod) *Stats {
	s := g.selection(&Query{From: from, To: to, Tod: tod})
	if from > g.First() || to < g.Last() || tod > models.Night {
		return report(&s)
	}
	whole := &g.whole[tod]
	whole.once.Do(func() {
		whole.stats = report(&s)
		whole.stats.whole = true
	})
	return whole.stats
}
