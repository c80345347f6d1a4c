package configs_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lottery/configs"
	"lottery/models"
)

// What is set is what the program gets, of every option.
func TestEveryOptionIsRead(t *testing.T) {
	t.Parallel()
	terms := write(t, "our terms")
	values := map[string]struct {
		value string
		got   func(c *configs.Config) any
		want  string // "" = the value
	}{
		"listen":                     {"127.0.0.1:7", func(c *configs.Config) any { return c.Listen }, ""},
		"public_url":                 {"https://Draws.example:443/", func(c *configs.Config) any { return c.PublicURL }, "https://draws.example"},
		"database_url":               {"sqlite:x.db", func(c *configs.Config) any { return c.DatabaseURL }, ""},
		"redis_url":                  {"redis://h:1/2", func(c *configs.Config) any { return c.RedisURL }, ""},
		"trusted_proxies":            {" ,10.0.0.1, fd00::1/8,::ffff:10.1.2.3,::ffff:10.1.2.3/112,::ffff:0.0.0.0/96", func(c *configs.Config) any { return c.TrustedProxies }, "[10.0.0.1/32 fd00::/8 10.1.2.3/32 10.1.0.0/16 0.0.0.0/0]"},
		"wrong_keys_per_minute":      {"7", func(c *configs.Config) any { return c.WrongKeysPerMinute }, ""},
		"log_level":                  {"error", func(c *configs.Config) any { return c.LogLevel }, "ERROR"},
		"log_format":                 {"text", func(c *configs.Config) any { return c.LogFormat }, ""},
		"access_log":                 {"true", func(c *configs.Config) any { return c.AccessLog }, ""},
		"max_in_flight":              {"77", func(c *configs.Config) any { return c.MaxInFlight }, ""},
		"max_connections":            {"78", func(c *configs.Config) any { return c.MaxConnections }, ""},
		"ops_listen":                 {"127.0.0.1:8", func(c *configs.Config) any { return c.OpsListen }, ""},
		"drain_delay":                {"1m5s", func(c *configs.Config) any { return c.DrainDelay }, ""},
		"plan_free_requests_per_day": {"11", func(c *configs.Config) any { return c.Plans[models.PlanFree].RequestsPerDay }, ""},
		"plan_free_max_keys":         {"12", func(c *configs.Config) any { return c.Plans[models.PlanFree].MaxKeys }, ""},
		"plan_pro_requests_per_day":  {"13", func(c *configs.Config) any { return c.Plans[models.PlanPro].RequestsPerDay }, ""},
		"plan_pro_max_keys":          {"14", func(c *configs.Config) any { return c.Plans[models.PlanPro].MaxKeys }, ""},
		"stripe_secret_key":          {"sk_test_a", func(c *configs.Config) any { return c.Stripe.SecretKey }, ""},
		"stripe_webhook_secret":      {"whsec_a,whsec_b", func(c *configs.Config) any { return c.Stripe.WebhookSecrets }, "[whsec_a whsec_b]"},
		"stripe_api_url":             {"http://127.0.0.1:9", func(c *configs.Config) any { return c.Stripe.APIURL }, ""},
		"billing_grace":              {"2h0m0s", func(c *configs.Config) any { return c.Stripe.Grace }, ""},
		"smtp_url":                   {"smtps://u:p@h:465", func(c *configs.Config) any { return c.Web.SMTPURL }, ""},
		"mail_from":                  {"Draws <a@example.com>", func(c *configs.Config) any { return c.Web.MailFrom }, ""},
		"support_email":              {"help@example.com", func(c *configs.Config) any { return c.Web.SupportEmail }, ""},
		"terms_file":                 {terms, func(c *configs.Config) any { return c.Web.Terms }, "our terms"},
		"privacy_file":               {terms, func(c *configs.Config) any { return c.Web.Privacy }, "our terms"},
		"feeds_sync":                 {"@every 1s", func(c *configs.Config) any { return c.Feeds.Sync }, ""},
		"feeds_ny_open_data_url":     {"http://h/ny", func(c *configs.Config) any { return c.Feeds.NYURL }, ""},
		"feeds_ny_open_data_token":   {"token", func(c *configs.Config) any { return c.Feeds.NYToken }, ""},
		"feeds_tx_lottery_url":       {"http://h/tx", func(c *configs.Config) any { return c.Feeds.TexasURL }, ""},
		"feeds_nc_lottery_url":       {"http://h/nc", func(c *configs.Config) any { return c.Feeds.NCURL }, ""},
		"feeds_va_lottery_url":       {"http://h/va", func(c *configs.Config) any { return c.Feeds.VirginiaURL }, ""},
		"feeds_allow_private":        {"true", func(c *configs.Config) any { return c.Feeds.AllowPrivate }, ""},
	}
	flags := map[string]string{}
	for key, v := range values {
		flags[key] = v.value
	}
	cfg, err := configs.Load(configs.Source{Flags: flags, Serve: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range configs.Options() {
		v, known := values[o.Key]
		if !known {
			t.Errorf("%s is not tested", o.Key)
			continue
		}
		if v.want == "" {
			v.want = v.value
		}
		if got := fmt.Sprint(v.got(&cfg)); got != v.want {
			t.Errorf("%s %q became %q", o.Key, v.value, got)
		}
	}
}

// Every secret, and nothing else, may be in a file that the environment or the configuration file names.
func TestSecretsFromFiles(t *testing.T) {
	t.Parallel()
	var secrets []string
	for _, o := range configs.Options() {
		file := write(t, "secret")
		_, of := configs.Load(configs.Source{Getenv: env(o.Env()+"_FILE", file+".absent")})
		_, in := configs.Load(configs.Source{File: write(t, o.Key+"_file: "+file+".absent\n")})
		if of != nil {
			secrets = append(secrets, o.Key)
		}
		if why := fmt.Sprint(in); strings.Contains(why, "cannot read the secret") != (of != nil) || strings.Contains(why, "there is no option") != (of == nil) {
			t.Errorf("%s_file: %v", o.Key, in)
		}
	}
	slices.Sort(secrets)
	if want := []string{"database_url", "feeds_ny_open_data_token", "redis_url", "smtp_url", "stripe_secret_key", "stripe_webhook_secret"}; !slices.Equal(secrets, want) {
		t.Errorf("%q", secrets)
	}
}

// The doctor looks at the rights of all files that hold a secret, once each: an address without a password is none.
func TestSecretFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "lottery.yaml")
	for _, c := range []struct {
		text   string
		getenv func(string) string
		want   []string
	}{
		{"", nil, nil},
		{"listen: 127.0.0.1:1\nstripe_secret_key: \"\"\n", nil, nil},
		{"database_url: sqlite:a.db\nredis_url: redis://h:1\nsmtp_url: smtp://u@h\n", nil, nil},
		{"database_url: postgres://u:p@h/d\nredis_url: redis://:p@h\n", nil, []string{file}},
		{"database_url: postgres://u@h/d?password=p\n", nil, []string{file}},
		{"database_url: \"postgres://u:%zz@h/d\"\n", nil, []string{file}},
		{"feeds_ny_open_data_token: abc\nlisten: 127.0.0.1:1\n", nil, []string{file}},
		{"stripe_secret_key: sk_test_a\nsmtp_url_file: s1\n", env("LOTTERY_REDIS_URL_FILE", "s2", "LOTTERY_LISTEN_FILE", "s3"), []string{file, "s1", "s2"}},
		{"", env("LOTTERY_STRIPE_SECRET_KEY_FILE", "s1", "LOTTERY_STRIPE_WEBHOOK_SECRET_FILE", "s1"), []string{"s1"}},
	} {
		if err := os.WriteFile(file, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		got := configs.SecretFiles(configs.Source{File: file, Getenv: c.getenv})
		if slices.Sort(got); !slices.Equal(got, c.want) {
			t.Errorf("%q: %q, want %q", c.text, got, c.want)
		}
	}
}

// What only some settings need is asked for with them, and only then.
func TestWhatBelongsTogether(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		flags   map[string]string
		environ []string
		want    []string // nil = no problem
	}{
		{nil, []string{"LOTTERY_LISEN=x"}, nil}, // a warning elsewhere
		{map[string]string{"smtp_url": "smtp://h"}, nil, []string{"1 problem(s)", "mail_from: smtp_url is set"}},
		{map[string]string{"smtp_url": "smtp://h", "mail_from": "a@example.com"}, nil, nil},
		{map[string]string{"smtp_url": "smtp://h", "mail_from": "nobody"}, nil, []string{"1 problem(s)", "--mail-from: must be an address"}},
		{map[string]string{"log_level": "loud"}, []string{"LOTTERY_LISEN=x"}, []string{"2 problem(s)", "LOTTERY_LISEN is set, but there is no such option"}},
	} {
		_, err := configs.Load(configs.Source{Flags: c.flags, Environ: c.environ, Serve: true})
		if (err == nil) != (c.want == nil) {
			t.Errorf("%v: %v", c.flags, err)
		}
		for _, want := range c.want {
			if !strings.Contains(fmt.Sprint(err), want) {
				t.Errorf("%v: %q is not in:\n%v", c.flags, want, err)
			}
		}
	}
	// The doctor goes on with what could be read, which must not send a live key elsewhere.
	cfg, err := configs.Load(configs.Source{Flags: map[string]string{"stripe_secret_key": "sk_live_a", "stripe_api_url": "https://elsewhere.example"}})
	if err == nil || cfg.Stripe.On() {
		t.Errorf("a live key for elsewhere is still there: %v", err)
	}
}
