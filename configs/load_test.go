package configs_test

import (
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"lottery/configs"
	"lottery/models"
)

func env(pairs ...string) func(string) string {
	return func(name string) string {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1]
			}
		}
		return ""
	}
}

func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "lottery.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestDefaults(t *testing.T) {
	t.Parallel()
	cfg, err := configs.Load(configs.Source{})
	if err != nil {
		t.Fatal(err)
	}
	if cfg.Listen != "127.0.0.1:8080" || cfg.DatabaseURL != "sqlite:data/lottery.db" || cfg.PublicURL.String() != "http://localhost:8080" {
		t.Errorf("%+v", cfg)
	}
	if cfg.Plans[models.PlanFree] != (models.PlanTerms{RequestsPerDay: 100, MaxKeys: 2}) || cfg.Plans[models.PlanPro] != (models.PlanTerms{RequestsPerDay: 10000, MaxKeys: 20}) {
		t.Errorf("%+v", cfg.Plans)
	}
}

func TestFlagsBeatEnvironmentBeatsFile(t *testing.T) {
	t.Parallel()
	file := write(t, "listen: 127.0.0.1:1\nlog_level: warn\ndrain_delay: 5s\ntrusted_proxies: [10.0.0.0/8, '::1']\nplan_free_requests_per_day: 50\n")
	cfg, err := configs.Load(configs.Source{
		File:   file,
		Getenv: env("LOTTERY_LISTEN", "127.0.0.1:2", "LOTTERY_LOG_LEVEL", "error"),
		Flags:  map[string]string{"listen": "127.0.0.1:3"},
	})
	if err != nil {
		t.Fatal(err)
	}
	if cfg.Listen != "127.0.0.1:3" || cfg.LogLevel.String() != "ERROR" || cfg.DrainDelay != 5*time.Second ||
		len(cfg.TrustedProxies) != 2 || cfg.Plans[models.PlanFree].RequestsPerDay != 50 {
		t.Errorf("%+v", cfg)
	}
}

// A file from a Windows editor begins with a byte order mark and has CR LF.
func TestFileOfAWindowsEditor(t *testing.T) {
	t.Parallel()
	cfg, err := configs.Load(configs.Source{File: write(t, "\ufefflisten: 127.0.0.1:3\r\nlog_level: error\r\n")})
	if err != nil || cfg.Listen != "127.0.0.1:3" || cfg.LogLevel.String() != "ERROR" {
		t.Errorf("%+v %v", cfg, err)
	}
}

// A value in the file means what it would in the environment: YAML reads a number with a leading zero as octal, and
// shortens what looks like a fraction.
func TestNumbersOfTheFileAreAsWritten(t *testing.T) {
	t.Parallel()
	cfg, err := configs.Load(configs.Source{File: write(t, "plan_free_requests_per_day: 0100\nplan_pro_requests_per_day: 20_000\n"+
		"feeds_ny_open_data_token: 0123\ntrusted_proxies: [10.0.0.0/8]\nplan_free_max_keys: &n 010\nplan_pro_max_keys: *n\n")})
	if err != nil || cfg.Plans[models.PlanFree] != (models.PlanTerms{RequestsPerDay: 100, MaxKeys: 10}) ||
		cfg.Plans[models.PlanPro] != (models.PlanTerms{RequestsPerDay: 20_000, MaxKeys: 10}) || cfg.Feeds.NYToken != "0123" {
		t.Errorf("%+v, %v", cfg, err)
	}
	if cfg, err = configs.Load(configs.Source{File: write(t, "feeds_ny_open_data_token: 1.10\n")}); err != nil || cfg.Feeds.NYToken != "1.10" {
		t.Errorf("%q, %v", cfg.Feeds.NYToken, err)
	}
	_, err = configs.Load(configs.Source{File: write(t, "plan_free_requests_per_day: 0x10\ntrusted_proxies: [10.10]\n")})
	if err == nil || !strings.Contains(err.Error(), `not "0x10"`) || !strings.Contains(err.Error(), `"10.10" is neither`) {
		t.Errorf("%v", err)
	}
}

// A plan cannot grant more than an operator may grant an account.
func TestMostThatAPlanGrants(t *testing.T) {
	t.Parallel()
	for value, good := range map[string]bool{"1000000000": true, "1000000001": false, "9223372036854775807": false} {
		_, err := configs.Load(configs.Source{Getenv: env("LOTTERY_PLAN_PRO_REQUESTS_PER_DAY", value)})
		if good != (err == nil) || !good && !strings.Contains(err.Error(), "LOTTERY_PLAN_PRO_REQUESTS_PER_DAY: must be a whole number from 0 to 1000000000, not ") {
			t.Errorf("%s: %v", value, err)
		}
	}
}

func TestAllProblemsAtOnce(t *testing.T) {
	t.Parallel()
	file := write(t, "lisen: x\nlisten: x\npublic_url: ftp://x\ndrain_delay: soon\n")
	_, err := configs.Load(configs.Source{
		File:   file,
		Getenv: env("LOTTERY_DATABASE_URL", "mysql://x", "LOTTERY_TRUSTED_PROXIES", "nearby, 10.0.0.1, ::/33/2, ::ffff:0.0.0.0/8", "LOTTERY_PLAN_PRO_MAX_KEYS", "-1"),
		Flags:  map[string]string{"log_level": "loud"},
	})
	if models.ErrorCode(err) != models.CodeInvalid {
		t.Fatalf("%v", err)
	}
	for _, want := range []string{
		`there is no option "lisen"; did you mean "listen"?`, "public_url: must be", "drain_delay: must be",
		"LOTTERY_DATABASE_URL: must be", `LOTTERY_TRUSTED_PROXIES: "nearby" is neither`, `; "::/33/2" is neither`, `; "::ffff:0.0.0.0/8" covers more`, "LOTTERY_PLAN_PRO_MAX_KEYS: must be", "--log-level: must be",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in:\n%v", want, err)
		}
	}
}

// A file with a section, unknown options and a second document: all problems are reported, in the same words each time.
func TestAllProblemsOfTheFileAtOnce(t *testing.T) {
	t.Parallel()
	file := write(t, "a: {x: 1}\nb: {x: 1}\nlog_format: {x: 1}\nlisten: nope\nlisen: 1\nlog_leve: 2\n---\nbogus_key: 1\n")
	want := "the configuration has 7 problem(s):\n" +
		"  " + file + ": contains a second YAML document, which would not be read: remove the line --- between them\n" +
		"  " + file + ": listen: must be host:port, such as 127.0.0.1:8080, not \"nope\"\n" +
		"  " + file + ": log_format: must be one value, not a section\n" +
		"  " + file + ": there is no option \"a\"\n" +
		"  " + file + ": there is no option \"b\"\n" +
		"  " + file + ": there is no option \"lisen\"; did you mean \"listen\"?\n" +
		"  " + file + ": there is no option \"log_leve\"; did you mean \"log_level\"?"
	for range 20 {
		if _, err := configs.Load(configs.Source{File: file}); err == nil || err.Error() != want {
			t.Fatalf("%v\nshould be\n%v", err, want)
		}
	}
}

func TestOneDocumentInTheFile(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "# nothing yet\n", "---\n", "---\nlisten: 127.0.0.1:1\n", "listen: 127.0.0.1:1\n...\n", "# a\n---\nlisten: 127.0.0.1:1\n---\n# b\n", "log_format: \"\"\nsupport_email: |-\n  a@example.com\n"} {
		if _, err := configs.Load(configs.Source{File: write(t, text)}); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
	for _, text := range []string{"listen: 127.0.0.1:1\n---\nbogus_key: 1\n", "---\nlisten: 127.0.0.1:1\n---\n- a\n", "---\n---\nlisten: 127.0.0.1:1\n", "a: 1\n...\n# c\nb: 1\n", "listen: 127.0.0.1:1\n---\n---\na: 1\n"} {
		if _, err := configs.Load(configs.Source{File: write(t, text)}); err == nil || !strings.Contains(err.Error(), "second YAML document") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// Space around a value in the environment is not part of it: a settings file edited on Windows ends each line with \r,
// and a database with another name would be created.
func TestValuesOfTheEnvironmentAreTrimmed(t *testing.T) {
	t.Parallel()
	cfg, err := configs.Load(configs.Source{Getenv: env("LOTTERY_DATABASE_URL", " sqlite:a b.db\r\n", "LOTTERY_LISTEN", " \r", "LOTTERY_LOG_LEVEL", "error\r")})
	if err != nil || cfg.DatabaseURL != "sqlite:a b.db" || cfg.Listen == "" {
		t.Errorf("%q %q %v", cfg.DatabaseURL, cfg.Listen, err)
	}
}

func TestSecretFromFile(t *testing.T) {
	t.Parallel()
	secret := write(t, "postgres://u:p@h/d\n")
	cfg, err := configs.Load(configs.Source{Getenv: env("LOTTERY_DATABASE_URL_FILE", secret)})
	if err != nil || cfg.DatabaseURL != "postgres://u:p@h/d" || cfg.DatabaseURLFile != secret { // which is read again when it is used again
		t.Errorf("%q, %q, %v", cfg.DatabaseURL, cfg.DatabaseURLFile, err)
	}
	_, err = configs.Load(configs.Source{Getenv: env("LOTTERY_DATABASE_URL_FILE", secret, "LOTTERY_DATABASE_URL", "sqlite:x")})
	if err == nil {
		t.Error("both the value and the file were accepted")
	}
	_, err = configs.Load(configs.Source{Getenv: env("LOTTERY_DATABASE_URL_FILE", secret+".absent")})
	if err == nil {
		t.Error("an absent secret file was accepted")
	}
}

// In the file too, an empty value beside a secret's file name means none, another one contradicts it, and every secret
// that cannot be read is reported with the rest.
func TestSecretFromFileOfTheFile(t *testing.T) {
	t.Parallel()
	secret := write(t, "sk_test_abc\n")
	cfg, err := configs.Load(configs.Source{File: write(t, "stripe_secret_key: \"\"\nstripe_secret_key_file: "+secret+"\nredis_url: redis://h\nredis_url_file: \"\"\n")})
	if err != nil || cfg.Stripe.SecretKey != "sk_test_abc" || cfg.RedisURL != "redis://h" || cfg.RedisURLFile != "" {
		t.Errorf("%q, %q, %q, %v", cfg.Stripe.SecretKey, cfg.RedisURL, cfg.RedisURLFile, err)
	}
	redis := write(t, "redis://:p@h\n")
	if cfg, err := configs.Load(configs.Source{File: write(t, "redis_url_file: "+redis+"\n")}); err != nil || cfg.RedisURL != "redis://:p@h" || cfg.RedisURLFile != redis {
		t.Errorf("%q, %q, %v", cfg.RedisURL, cfg.RedisURLFile, err)
	}
	example, err := os.ReadFile("lottery.example.yaml")
	if err != nil {
		t.Fatal(err)
	}
	file := write(t, string(example)+"database_url_file: "+secret+"\nstripe_secret_key_file: "+secret+".absent\n")
	_, err = configs.Load(configs.Source{File: file})
	if err == nil {
		t.Fatal("both the value and the file were accepted")
	}
	for _, want := range []string{"2 problem(s)", file + ": database_url: database_url_file is set too: leave one out", file + ": stripe_secret_key_file: cannot read the secret"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in:\n%v", want, err)
		}
	}
}

func TestDurations(t *testing.T) {
	t.Parallel()
	for text, ok := range map[string]bool{"0s": true, "36h30m": true, "2562047h": true, "2562048h": false, "7d": false, "-1s": false, "5": false} {
		_, err := configs.Load(configs.Source{Getenv: env("LOTTERY_BILLING_GRACE", text)})
		if (err == nil) != ok || err != nil && !strings.Contains(err.Error(), "of at most 2562047h, not "+strconv.Quote(text)) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// A webhook secret with nothing after its prefix is refused: whatever it was cut from, no event could be verified.
func TestWebhookSecrets(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{"": 0, "whsec_a": 1, " whsec_a, whsec_b ,": 2, "whsec_": -1, "whsec_a,whsec_": -1, "whsec_a\nwhsec_b\r\n": 2, "whsec_a whsec_b": 2, "whsec_a;whsec_b": -1, "whsec_test_a-+/=": 1, "a": -1, "sk_test_a": -1} {
		cfg, err := configs.Load(configs.Source{Getenv: env("LOTTERY_STRIPE_WEBHOOK_SECRET", text)})
		if (err != nil) != (want < 0) || err == nil && len(cfg.Stripe.WebhookSecrets) != want {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// A missing option that a server needs is reported with the rest; lotteryadmin, which makes the webhook, starts without
// it.
func TestAServerNeedsItsWebhookSecret(t *testing.T) {
	t.Parallel()
	getenv := env("LOTTERY_STRIPE_SECRET_KEY", "sk_test_abc")
	if _, err := configs.Load(configs.Source{Getenv: getenv}); err != nil {
		t.Error(err)
	}
	for _, c := range []struct {
		flags map[string]string
		want  []string
	}{
		{map[string]string{"log_level": "loud"}, []string{"2 problem(s)", "--log-level: must be", "stripe_webhook_secret: is not set, but stripe_secret_key is"}},
		{map[string]string{"stripe_secret_key": "pk_test_a"}, []string{"2 problem(s)", "--stripe-secret-key: must be", "stripe_webhook_secret: is not set"}},
		{map[string]string{"stripe_webhook_secret": "whsec_a", "smtp_url": "mail"}, []string{"2 problem(s)", "--smtp-url: must be", "mail_from: smtp_url is set"}},
		{map[string]string{"stripe_webhook_secret": "whsec_"}, []string{"1 problem(s)", "--stripe-webhook-secret: must be whsec_…"}},
	} {
		_, err := configs.Load(configs.Source{Getenv: getenv, Flags: c.flags, Serve: true})
		for _, want := range c.want {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%v: %q is not in:\n%v", c.flags, want, err)
			}
		}
	}
	if _, err := configs.Load(configs.Source{Getenv: getenv, Flags: map[string]string{"stripe_webhook_secret": "whsec_a"}, Serve: true}); err != nil {
		t.Error(err)
	}
}

// A live key, restricted or not, is sent to Stripe and nowhere else; a test key may be sent to a stand-in.
func TestALiveKeyIsForStripeAlone(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		key, address string
		ok           bool
	}{
		{"sk_test_a", "", true}, {"sk_test_a", "http://127.0.0.1:12111", true}, {"rk_test_a", "http://127.0.0.1:12111", true},
		{"sk_live_a", "", true}, {"sk_live_a", configs.StripeURL, true}, {"rk_live_a", configs.StripeURL, true},
		{"sk_live_a", "http://127.0.0.1:12111", false}, {"rk_live_a", "https://elsewhere.example", false},
	} {
		_, err := configs.Load(configs.Source{Flags: map[string]string{"stripe_secret_key": c.key, "stripe_api_url": c.address}})
		if (err == nil) != c.ok || err != nil && !strings.Contains(err.Error(), "stripe_api_url: a live key is only ever sent to Stripe") {
			t.Errorf("%s to %q: %v", c.key, c.address, err)
		}
	}
}

// A bad Redis address, number or port is reported at the start.
func TestForms(t *testing.T) {
	t.Parallel()
	for key, values := range map[string]map[string]bool{
		"redis_url": {
			"": true, "redis://h": true, "rediss://:secret@h:6380/1": true, "unix:///run/redis.sock": true,
			"h:6379": false, "http://h": false, "redis://": false, "redis:h": false,
			"redis://h:1/x": false, "redis://h:1/0/1": false, "redis://h?dbb=1": false, "redis://:12/secret@h:1/0": false, "redis://:12#secret@h:1/0": false, "redis://:%zzsecret@h": false,
		},
		"database_url": {
			"sqlite:a.db": true, "sqlite:///tmp/a.db": true, "postgres://u:secret@h/d?sslmode=require": true,
			"postgres://h/d?sslmode=disable": true, "postgres://h/d?sslmode=allow": true, "postgres://h/d?sslmode=prefer": true, "postgres://h/d?sslmode=verify-ca": true, "postgres://h/d?sslmode=verify-full": true,
			"sqlite:": false, "postgres:": false, "mysql://h": false, "sqlite::memory:": false, "sqlite:a.db?mode=ro": false, "sqlite:a#b.db": false, "sqlite://": false, "postgres://u:secret@h/d?sslmode=foo": false,
		},
		"listen":                {"127.0.0.1:0": true, ":8080": true, "127.0.0.1": false, "127.0.0.1:http": false, "127.0.0.1:65536": false, "127.0.0.1:-1": false},
		"feeds_sync":            {"@every 1h": true, "@hourly": true, "15 * * * *": true, "@every -5m": false, "@every 0s": false, "TZ=UTC": false, "CRON_TZ=America/New_York": false, "TZ=UTC 15 * * * *": true, "0 0 30 2 *": false},
		"public_url":            {"http://h": true, "https://h:8443/": true, "http://h/path": false, "http://h?q": false, "h": false},
		"smtp_url":              {"": true, "smtp://h": true, "smtps://u:secret@h:465": true, "http://h": false, "smtp://": false, "smtp://u:secret@": false, "smtp:h": false, "smtp://:%zzsecret@h": false},
		"support_email":         {"": true, "a@example.com": true, "Help <a@example.com>": false, "a": false},
		"ops_listen":            {"": true, "127.0.0.1:1": true, "8081": false},
		"log_format":            {"": true, "json": true, "xml": false},
		"access_log":            {"true": true, "yes": false},
		"max_in_flight":         {"0": true, "-1": false},
		"max_connections":       {"0": true, "many": false},
		"wrong_keys_per_minute": {"0": true, "1_000": true, "-1": false, "1.5": false, "": true},
	} {
		for value, ok := range values {
			_, err := configs.Load(configs.Source{Getenv: env("LOTTERY_"+strings.ToUpper(key), value, "LOTTERY_MAIL_FROM", "a@example.com")})
			if (err == nil) != ok || err != nil && (!strings.Contains(err.Error(), "LOTTERY_"+strings.ToUpper(key)+": must be ") || strings.Contains(err.Error(), "secret")) {
				t.Errorf("%s %q: %v", key, value, err)
			}
		}
	}
}

// A password in an address must not reach a log, whatever is wrong with the address.
func TestNoSecretInAnError(t *testing.T) {
	t.Parallel()
	for _, key := range baseAddresses() {
		for _, address := range []string{"http://u:topsecret@h", "http://u:topsecret%zz@h", "ftp://topsecret@h", "http://h/?token=topsecret", "http://h\x7f/?topsecret"} {
			_, err := configs.Load(configs.Source{Flags: map[string]string{key: address}})
			if err == nil || strings.Contains(err.Error(), "topsecret") || !strings.Contains(err.Error(), "must be") {
				t.Errorf("%s, %q: %v", key, address, err)
			}
		}
		if _, err := configs.Load(configs.Source{Flags: map[string]string{key: "ftp://h"}}); err == nil || !strings.Contains(err.Error(), `not "ftp://h"`) {
			t.Errorf("%s: %v", key, err)
		}
	}
}

// The example documents every option, with its default, and loads.
func TestExampleDocumentsEveryOption(t *testing.T) {
	t.Parallel()
	const path = "lottery.example.yaml"
	cfg, err := configs.Load(configs.Source{File: path})
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if want, err := configs.Load(configs.Source{}); err != nil || !reflect.DeepEqual(cfg, want) {
		t.Errorf("the example does not say the defaults: %+v\n%+v, %v", cfg, want, err)
	}
	for _, o := range configs.Options() {
		if !strings.Contains(string(text), "\n"+o.Key+":") {
			t.Errorf("%s does not document %s", path, o.Key)
		}
		if !strings.Contains(string(text), o.Env()) {
			t.Errorf("%s does not name %s", path, o.Env())
		}
	}
}
