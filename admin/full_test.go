package admin_test

import (
	"path/filepath"
	"strings"
	"testing"

	"lottery/admin"
)

// A command whose result could not be written has not succeeded, whatever it did.
func TestNoRoomForTheResult(t *testing.T) {
	t.Parallel()
	s := newTill(t)
	ada, eve := s.account("ada@example.com"), s.account("eve@example.com")
	s.checkout(ada) // makes its customer
	key := s.object("keys", "create", "--account", ada)["prefix"].(string)
	const slot = "--game va-pick-3 --date 2020-05-04 --tod Day"
	file := filepath.Join(s.dir, "draws.csv")
	write(t, file, "game,date,tod,number\nva-pick-3,2020-05-04,Night,123\n")
	// In this order: some need what the ones before did.
	for _, line := range []string{
		"--help", "accounts --help", "accounts create --help", "version", "version -o json", "completion bash", "completion zsh", "completion fish",
		"accounts create --email bob@example.com", "accounts list", "accounts show " + ada, "accounts set-plan " + ada + " pro",
		"accounts set-limit " + ada + " 7", "accounts set --name Ada " + ada, "accounts suspend --yes " + ada, "accounts resume " + ada, "accounts export " + ada,
		"keys create --account " + ada, "keys list", "keys rotate " + key, "keys revoke --yes " + key,
		"games list", "games add --id il-pick-3 --name Illinois --digits 3 --tods Midday --jurisdiction IL --timezone America/Chicago",
		"games set il-pick-3 --name Illinois-3", "games remove il-pick-3 --yes",
		"draws import --feed csv " + file, "draws set --number 007 --reason typed " + slot, "draws unset --reason never --yes " + slot, "draws release --reason wrong " + slot,
		"draws show --game va-pick-3 --date 2020-05-04", "draws corrections", "draws verify", "draws export", "draws export --format ndjson",
		"usage show " + ada, "usage top", "jobs list", "jobs run cleanup", "mails list", "mails retry all", "feeds status", "audit list",
		"billing setup", "billing doctor", "billing checkout " + eve, "billing portal " + ada, "billing sync " + ada, "billing sync --all",
		"billing status " + ada, "billing clear-flags " + ada, "billing events", "accounts delete --yes " + ada,
		"db status", "db migrate", "db backup " + filepath.Join(s.dir, "backup.db"), "doctor",
		"db copy --from sqlite:" + filepath.Join(s.dir, "lottery.db") + " --database-url sqlite:" + filepath.Join(s.dir, "copy.db"),
	} {
		var stderr strings.Builder
		if code := admin.Run(t.Context(), strings.Fields(line), s.env(strings.NewReader(""), full{}, &stderr)); code != 1 || !strings.Contains(stderr.String(), "no space left") {
			t.Errorf("%s: exit code %d: %s", line, code, &stderr)
		}
	}
}
