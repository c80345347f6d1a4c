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

// Feed ranks: who may correct whom. A feed corrects its own draws and those of a lower rank.
const (
	RankCSV      = 1
	RankLottery  = 2
	RankOperator = 3
)

// FeedRank is the authority of a feed's word.
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
