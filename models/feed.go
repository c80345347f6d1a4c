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

// FeedRank returns the rank of a feed, which decides what it may correct: its own draws, and those of feeds of a lower
// rank.
func FeedRank(feed string) int {
	switch feed {
	case FeedCSV:
		return 1
	case FeedOperator:
		return 3
	default:
		return 2
	}
}
