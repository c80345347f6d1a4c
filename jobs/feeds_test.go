package jobs_test

import (
	"maps"
	"testing"

	"lottery/configs"
	"lottery/jobs"
	"lottery/models"
)

// `lotteryadmin doctor` tries a URL of every lottery.
func TestFeedHosts(t *testing.T) {
	t.Parallel()
	got := jobs.FeedHosts(&configs.Feeds{NYURL: "https://ny/x.json", TexasURL: "https://tx", NCURL: "https://nc", VirginiaURL: "https://va/all"})
	want := map[string]string{
		models.FeedNYOpenData: "https://ny/x.json", models.FeedTexas: "https://tx/Games/Pick_3/Winning_Numbers/pick3morning.csv",
		models.FeedNC: "https://nc/pick3-download", models.FeedVirginia: "https://va/all?gameId=1050",
	}
	if !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
