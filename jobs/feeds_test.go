package jobs

import (
	"slices"
	"strings"
	"testing"

	"lottery/configs"
	"lottery/jobs/importer"
)

// Every feed that is fetched can be read, its games come with the product, and its URLs are addresses by default.
func TestPublishersAreKnown(t *testing.T) {
	t.Parallel()
	cfg, err := configs.Load(configs.Source{})
	if err != nil {
		t.Fatal(err)
	}
	games, err := configs.Games()
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for i := range games {
		known[games[i].ID] = true
	}
	for _, p := range publishers(&cfg.Feeds) {
		if !slices.Contains(importer.Feeds(), p.feed) {
			t.Errorf("%s is fetched, and missing from forms in the importer", p.feed)
		}
		addresses := []string{p.dataset}
		if len(p.files) > 0 {
			addresses = nil
		}
		for _, file := range p.files {
			addresses = append(addresses, file.address)
			if !slices.Contains(p.games, file.game) {
				t.Errorf("%s has a file of %s, which is none of its games %v", p.feed, file.game, p.games)
			}
		}
		for _, address := range addresses {
			if !strings.HasPrefix(address, "https://") {
				t.Errorf("%s is fetched from %q", p.feed, address)
			}
		}
		for _, game := range p.games {
			if !known[game] {
				t.Errorf("%s has draws of %s, which configs/games.yaml does not have", p.feed, game)
			}
			if len(p.files) > 0 && !slices.ContainsFunc(p.files, func(f wholeFile) bool { return f.game == game }) {
				t.Errorf("%s has no file of %s", p.feed, game)
			}
		}
	}
}
