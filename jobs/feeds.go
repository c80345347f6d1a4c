package jobs

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"lottery/configs"
	"lottery/models"
	"lottery/models/store"
)

// publisher is a feed that is fetched.
type publisher struct {
	feed    string
	games   []string
	files   []wholeFile // none for New York
	dataset string      // New York's, read in pages
	header  http.Header
}

// wholeFile is a URL that returns all draws of one game in one file.
type wholeFile struct{ address, game string }

// publishers returns the feeds that lotteries publish, with the configured URLs.
func publishers(cfg *configs.Feeds) []publisher {
	tx := func(game, folder, file string) (list []wholeFile) {
		for _, tod := range []string{"morning", "day", "evening", "night"} {
			list = append(list, wholeFile{cfg.TexasURL + "/Games/" + folder + "/Winning_Numbers/" + file + tod + ".csv", game})
		}
		return list
	}
	ny := publisher{feed: models.FeedNYOpenData, games: []string{"ny-numbers", "ny-win-4"}, dataset: cfg.NYURL}
	if cfg.NYToken != "" {
		ny.header = http.Header{"X-App-Token": {cfg.NYToken}}
	}
	return []publisher{
		ny,
		{feed: models.FeedTexas, games: []string{"tx-pick-3", "tx-daily-4"}, files: append(tx("tx-pick-3", "Pick_3", "pick3"), tx("tx-daily-4", "Daily_4", "daily4")...)},
		{feed: models.FeedNC, games: []string{"nc-pick-3", "nc-pick-4"}, files: []wholeFile{{cfg.NCURL + "/pick3-download", "nc-pick-3"}, {cfg.NCURL + "/pick4-download", "nc-pick-4"}}},
		{feed: models.FeedVirginia, games: []string{"va-pick-3", "va-pick-4"}, files: []wholeFile{{cfg.VirginiaURL + "?gameId=1050", "va-pick-3"}, {cfg.VirginiaURL + "?gameId=1040", "va-pick-4"}}},
	}
}

// SyncedFeeds returns the ids of the feeds that can be fetched.
func SyncedFeeds() []string {
	var list []string
	for _, p := range publishers(&configs.Feeds{}) {
		list = append(list, p.feed)
	}
	return list
}

// FeedHosts returns one URL of each feed, by the feed's name: the servers that must be reachable.
func FeedHosts(cfg *configs.Feeds) map[string]string {
	hosts := map[string]string{}
	for _, p := range publishers(cfg) {
		hosts[p.feed] = p.dataset
		if len(p.files) > 0 {
			hosts[p.feed] = p.files[0].address
		}
	}
	return hosts
}

// FeedSources returns what is known about the URLs in cfg. The database may also have rows about URLs that were
// configured before, or on another node; those say nothing about the feeds' present state.
func FeedSources(ctx context.Context, st *store.Store, cfg *configs.Feeds) ([]models.FeedSource, error) {
	list, err := st.FeedSources(ctx)
	if err != nil {
		return nil, err
	}
	named := map[[2]string]bool{}
	for _, p := range publishers(cfg) {
		named[[2]string{p.feed, p.dataset}] = true
		for _, file := range p.files {
			named[[2]string{p.feed, file.address}] = true
		}
	}
	return slices.DeleteFunc(list, func(src models.FeedSource) bool { return !named[[2]string{src.Feed, src.Address}] }), nil
}

// page returns the URL of the page of a dataset after so many records, as a SoQL query to Socrata.
// https://dev.socrata.com/docs/queries/
func page(dataset, where string, after int) string {
	query := url.Values{"$order": {"draw_date,:id"}, "$limit": {strconv.Itoa(pageRows)}, "$offset": {strconv.Itoa(after)}}
	if where != "" {
		query.Set("$where", where)
	}
	return dataset + "?" + strings.ReplaceAll(query.Encode(), "+", "%20")
}
