package catalog

import (
	"sync"

	"lottery/models"
)

// Stats is the API's statistics of a game's draws in a range of dates: how often sums, numbers, boxes and digits were
// drawn, next to what fair, independent digits would give. Lists are sorted by descending frequency, ties by the
// smaller sum, number or digit. Shares are fractions of 1.
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

	whole bool     // covers all dates, so it is kept and shared
	room  struct { // memory that the lists refer to
		first, last models.Date
		places      [10 * models.MaxDigits]int
		drawn       [10]lastDrawn
	}
}

// lastDrawn is how many draws came after the last one with a digit, and the date of that draw.
type lastDrawn struct {
	ago  int
	date models.Date
}

// reports holds statistics that are no longer used, for reuse.
var reports = sync.Pool{New: func() any {
	return &Stats{
		TopSums:       make([]SumStat, 0, topCount),
		HotNumbers:    make([]NumberStat, 0, topCount),
		HotBoxes:      make([]BoxStat, 0, topCount),
		HotDigits:     make([]DigitStat, 0, topCount),
		OverdueDigits: make([]OverdueDigit, 0, topCount),
	}
}}

// Release says that the caller no longer uses s, whose memory may then be reused. Calling it is optional.
func (s *Stats) Release() {
	if !s.whole {
		reports.Put(s)
	}
}

// DateRange is the dates of the oldest and the newest draw; nil if there are no draws.
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

// NumberStat is how often Number was drawn, and when it was last.
type NumberStat struct {
	Number        string      `json:"number"`
	Count         int         `json:"count"`
	Share         float64     `json:"share"`
	ExpectedShare float64     `json:"expected_share"`
	LastDate      models.Date `json:"last_date"`
}

// BoxStat is how often the digits of Normalized were drawn in any order, and when they were last.
type BoxStat struct {
	Normalized    string      `json:"normalized"`
	Count         int         `json:"count"`
	Share         float64     `json:"share"`
	ExpectedShare float64     `json:"expected_share"`
	LastDate      models.Date `json:"last_date"`
}

// DigitStat is how often Digit was drawn: in all places together, which Count and Share cover, and in each.
type DigitStat struct {
	Digit         string  `json:"digit"`
	Count         int     `json:"count"`
	Share         float64 `json:"share"`
	ExpectedShare float64 `json:"expected_share"`
	ByPosition    []int   `json:"by_position"`
}

// OverdueDigit is how many draws came after the last one with Digit: 0 if the newest has it, nil if none has.
type OverdueDigit struct {
	Digit      string       `json:"digit"`
	DrawsSince *int         `json:"draws_since"`
	LastDate   *models.Date `json:"last_date"`
}

// topCount is the maximum length of the lists of Stats.
const topCount = 10

// wholeStats is the statistics of all draws of a game or of one of its tods, made on first use.
type wholeStats struct {
	once  sync.Once
	stats *Stats
}

// Stats returns the statistics of the draws in an inclusive range of dates and of a tod (0 = all). The result may be
// shared with other callers: do not change it, and call Release when done. Statistics of all dates are made only once;
// those of a range are made for each call, from counts made when the catalog was built and some draws near the ends.
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
