package configs_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lottery/configs"
	"lottery/models"
)

// FuzzLoad reads any text as the configuration file: Load must accept it or return an error written for people, never
// panic, and what it accepts must be complete.
func FuzzLoad(f *testing.F) {
	example, err := os.ReadFile("lottery.example.yaml")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(example)
	for _, seed := range []string{
		"", "listen: 127.0.0.1:1\n", "listen: [a, {b: c}]\n", "a: &a [*a]\n", "database_url: sqlite:x\nredis_url: redis://h\n", "? x\n: y\n", "listen: !!binary aGk=\n",
		"<<: *x\n", "log_level: ~\n", "public_url: http://[::1]:80/\n", "\xff\xfe", "- a\n", "plan_free_requests_per_day: 1e9\n", "trusted_proxies: [10.0.0.0/8, 5]\n", "smtp_url: smtp://u:p@h\n",
		"feeds_sync: '15 * * * *'\n", "feeds_sync: '* * * * * *'\n", "listen: a\nlisten: b\n", "drain_delay: 9999999h\n",
	} {
		f.Add([]byte(seed))
	}
	file := filepath.Join(f.TempDir(), "lottery.yaml")
	f.Fuzz(func(t *testing.T, text []byte) {
		if strings.Contains(string(text), "_file") {
			return // it would read files of this machine
		}
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
		cfg, err := configs.Load(configs.Source{File: file})
		if err != nil {
			if models.ErrorCode(err) != models.CodeInvalid || !strings.Contains(err.Error(), "problem") {
				t.Errorf("%q: %v", text, err)
			}
			return
		}
		if cfg.PublicURL == nil || cfg.PublicURL.Host == "" || cfg.Listen == "" || cfg.DatabaseURL == "" || cfg.DrainDelay < 0 || cfg.WrongKeysPerMinute < 0 || len(cfg.Plans) != len(models.DefaultPlans()) {
			t.Errorf("%q was taken as %+v", text, cfg)
		}
	})
}
