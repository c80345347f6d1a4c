package models

// The feeds that a draw can come from.
const (
	FeedNYOpenData = "ny-open-data"
	FeedTexas      = "tx-lottery"
	FeedNC         = "nc-lottery"
	FeedVirginia   = "va-lottery"
	FeedCSV        = "csv"
	FeedOperator   = "operator" // lotteryadmin draws set and unset
)

// Feed ranks decide which feeds may correct which draws: a feed's own, and those of a lower rank.
const (
	RankCSV      = 1
	RankLottery  = 2
	RankOperator = 3
)

// FeedRank returns the rank of a feed.
func FeedRank(feed string) int {
	switch feed {
	case FeedOperator:
		return RankOperator
	case FeedCSV:
		return RankCSV
	default:
		return RankLottery
	}
}
