package main

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"lottery/jobs/feed"
)

// Containers with a read-only root need a temporary folder with room for the largest feed and more: without it no feed
// can be fetched.
func TestComposeHasRoomForFeeds(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../compose.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var compose struct {
		Services map[string]struct {
			ReadOnly bool `yaml:"read_only"`
			Tmpfs    []string
		}
	}
	if err := yaml.UnmarshalWithOptions(text, &compose, yaml.AllowDuplicateMapKey()); err != nil { // what overrides a merged key
		t.Fatal(err)
	}
	for _, name := range []string{"migrate", "api1", "api2"} {
		service := compose.Services[name]
		if !service.ReadOnly {
			t.Errorf("%s may write everywhere", name)
		}
		var room int
		for _, mount := range service.Tmpfs {
			if size, ok := strings.CutPrefix(mount, "/tmp:size="); ok {
				room, _ = strconv.Atoi(strings.TrimSuffix(size, "m"))
			}
		}
		if room<<20 < 3*feed.MostFetched/2 {
			t.Errorf("%s has %d MiB in /tmp: %v", name, room, service.Tmpfs)
		}
	}
}

// A later `docker compose up` without the domain that the nodes were started with must not start them with another one:
// links in mails and Stripe's events would go there.
func TestComposeWantsItsDomain(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../compose.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if all, wanted := strings.Count(string(text), "${DOMAIN"), strings.Count(string(text), "${DOMAIN:?"); wanted != 2 || all != wanted {
		t.Errorf("%d of %d uses of DOMAIN want it", wanted, all)
	}
	steps, err := os.ReadFile("../../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(steps), "\necho \"DOMAIN=draws.example.com\" > .env") {
		t.Error("docs/operations.md does not put DOMAIN into .env")
	}
}

// PostgreSQL is healthy when nodes can connect to it. While its image sets up a new database, a server that listens on a
// socket file alone is up for a moment; whoever takes that for ready starts the migration too early, and it fails.
func TestComposeAsksPostgresByTCP(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../compose.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var compose struct {
		Services map[string]struct{ Healthcheck struct{ Test []string } }
	}
	if err := yaml.UnmarshalWithOptions(text, &compose, yaml.AllowDuplicateMapKey()); err != nil {
		t.Fatal(err)
	}
	if check := strings.Join(compose.Services["postgres"].Healthcheck.Test, " "); !strings.HasPrefix(check, "CMD pg_isready -h 127.0.0.1 ") {
		t.Errorf("PostgreSQL is asked by %q", check)
	}
}
