package configs_test

import (
	"slices"
	"strings"
	"testing"

	"lottery/configs"
)

// A proxy's network matches in whatever form it is written: requests have plain IPv4 addresses.
func TestTrustedProxies(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]string{
		"10.1.2.3/8": "10.0.0.0/8", "::ffff:10.1.2.3": "10.1.2.3/32", "::ffff:10.0.0.0/104": "10.0.0.0/8", "fd00::1/8": "fd00::/8", "::/0": "::/0",
		"::ffff:0.0.0.0/80": "separately", "10.10": "neither",
	} {
		cfg, err := configs.Load(configs.Source{Getenv: env("LOTTERY_TRUSTED_PROXIES", value)})
		if err != nil {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v", value, err)
			}
			continue
		}
		if got := cfg.TrustedProxies; len(got) != 1 || got[0].String() != want {
			t.Errorf("%s: %v, want %s", value, got, want)
		}
	}
}

func TestPortOfTheMailServer(t *testing.T) {
	t.Parallel()
	for address, ok := range map[string]bool{
		"smtp://u:topsecret@h": true, "smtps://h:65535": true, "smtp://[::1]:25": true,
		"smtp://u:topsecret@h:65536": false, "smtp://u:topsecret@h:99999": false, "smtp://u:topsecret@h:0": false,
	} {
		_, err := configs.Load(configs.Source{Flags: map[string]string{"smtp_url": address, "mail_from": "a@example.com"}})
		if (err == nil) != ok || err != nil && (!strings.Contains(err.Error(), "--smtp-url: the port must be 1 to 65535") || strings.Contains(err.Error(), "secret")) {
			t.Errorf("%s: %v", address, err)
		}
	}
}

// baseAddresses returns the keys of the options to whose URLs paths are appended.
func baseAddresses() []string {
	keys := []string{"public_url", "stripe_api_url"}
	for _, o := range configs.Options() {
		if strings.HasPrefix(o.Key, "feeds_") && strings.HasSuffix(o.Key, "_url") {
			keys = append(keys, o.Key)
		}
	}
	return keys
}

// URLs to which paths are appended need a host, a possible port, and nothing after the path: otherwise links in mails
// would lead to the start page, or nowhere.
func TestAddressesThatPathsAreAddedTo(t *testing.T) {
	t.Parallel()
	for _, key := range baseAddresses() {
		for address, ok := range map[string]bool{
			"https://draws.example.com": true, "https://draws.example.com/": true, "http://10.0.0.1:8080": true, "http://[::1]:65535": true,
			"https://draws.example.com#top": false, "https://draws.example.com?": false, "https://draws.example.com?a": false,
			"http://:8080": false, "https://draws.example.com:": false, "https://draws.example.com:0": false, "https://draws.example.com:65536": false,
		} {
			_, err := configs.Load(configs.Source{Flags: map[string]string{key: address}})
			if (err == nil) != ok || err != nil && !strings.Contains(err.Error(), "--"+strings.ReplaceAll(key, "_", "-")+": must be ") {
				t.Errorf("%s, %q: %v", key, address, err)
			}
		}
	}
}

func TestDatabaseAddressIsExplained(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"postgres://u:topsecret%zz@h/d":    "for a % in the password itself, write %25",
		"postgres://u:topsecret@h:port/d":  "the port is not a number",
		"postgres://u:topsecret/x@h/d":     "write / as %2F",
		"postgresql://u:topsecret\x7f@h/d": "write anything but letters and digits",
		"postgres://u:top secret[@h/d":     "write anything but letters and digits",
		"postgres://u:topsecret@zz@h:1/d":  "write @ as %40",
		"postgres://zz@h:topsecret@h/d":    "write @ as %40",
		"postgres://u:12/topsecret@h/d":    "/ as %2F",
		"postgres://u:12?topsecret@h/d":    "? as %3F",
		"postgresql://u:12#topsecret@h":    "# as %23",
	} {
		_, err := configs.Load(configs.Source{Getenv: env("LOTTERY_DATABASE_URL", address)})
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), "zz") {
			t.Errorf("%q: %v", address, err)
		}
	}
	for _, address := range []string{
		"postgres://u:p@h1:5432,h2:5433/d", "postgres:///d?host=/run/postgresql", "postgres://u:p%25@[::1]:5432/d?sslmode=disable",
		"postgres://u%40h:p%40%2F@h/d", "postgres://u:p@h?host=/run/a@b", "postgres://h:5432/d?user=u@h", "postgres://u:p@h/d@b", "sqlite:100%zz.db", "sqlite:a@b@c.db",
	} {
		if _, err := configs.Load(configs.Source{Flags: map[string]string{"database_url": address}}); err != nil {
			t.Errorf("%q: %v", address, err)
		}
	}
}

// A password with a delimiter of URLs is the usual fault of a Redis URL, too: the message says how to write it.
func TestRedisPasswordIsExplained(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"redis://:12@secret@h:1/0", "redis://u:12/secret@h:1", "rediss://:12?secret@h:1/0", "redis://:12#secret@h:1/0"} {
		_, err := configs.Load(configs.Source{Flags: map[string]string{"redis_url": address}})
		if err == nil || !strings.Contains(err.Error(), "write @ as %40, / as %2F, ? as %3F and # as %23") || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v", address, err)
		}
	}
	for _, address := range []string{"http://h", "redis://", "redis://h:1/x"} {
		if _, err := configs.Load(configs.Source{Flags: map[string]string{"redis_url": address}}); err == nil || strings.Contains(err.Error(), "%40") {
			t.Errorf("%q: %v", address, err)
		}
	}
}

// Mails and Stripe send people on other machines to public_url: one that means only this machine is reported.
func TestAPublicURLOfThisMachineAlone(t *testing.T) {
	t.Parallel()
	mails := []string{"LOTTERY_SMTP_URL", "smtp://h", "LOTTERY_MAIL_FROM", "a@example.com"}
	sells := []string{"LOTTERY_STRIPE_SECRET_KEY", "sk_test_abc"}
	for _, c := range []struct {
		publicURL string
		set       []string
		want      bool
	}{
		{"", nil, false}, {"", mails, true}, {"", sells, true}, {"http://LOCALHOST:80", mails, true}, {"https://draws.localhost", sells, true},
		{"http://127.0.0.2:8080", mails, true}, {"http://[::1]:8080", mails, true}, {"http://0.0.0.0:8080", mails, true}, {"http://[::ffff:127.0.0.1]", mails, true},
		{"https://draws.example.com", slices.Concat(mails, sells), false}, {"http://10.0.0.5", mails, false}, {"https://localhost.example.com", sells, false},
	} {
		cfg, err := configs.Load(configs.Source{Getenv: env(slices.Concat(c.set, []string{"LOTTERY_PUBLIC_URL", c.publicURL})...)})
		if err != nil || cfg.LeadsAstray() != c.want {
			t.Errorf("%q, %v: %v, %v", c.publicURL, c.set, cfg.LeadsAstray(), err)
		}
	}
}
