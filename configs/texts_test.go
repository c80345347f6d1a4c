package configs_test

import (
	"os"
	"path/filepath"
	"testing"

	"lottery/configs"
)

// Windows editors begin files with a byte order mark. It must not become part of a secret, nor precede the first
// heading of the operator's terms.
func TestFilesWithAMark(t *testing.T) {
	t.Parallel()
	file := func(text string) string {
		name := filepath.Join(t.TempDir(), "text")
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	cfg, err := configs.Load(configs.Source{Getenv: env(
		"LOTTERY_STRIPE_SECRET_KEY_FILE", file("\ufeffsk_test_a\r\n"), "LOTTERY_TERMS_FILE", file("\ufeff# Terms\r\n"),
	)})
	if err != nil || cfg.Stripe.SecretKey != "sk_test_a" || cfg.Web.Terms != "# Terms\r\n" {
		t.Errorf("%q, %q, %v", cfg.Stripe.SecretKey, cfg.Web.Terms, err)
	}
	for _, empty := range []string{"", "\ufeff", " \r\n"} {
		if _, err := configs.Load(configs.Source{Getenv: env("LOTTERY_PRIVACY_FILE", file(empty))}); err == nil {
			t.Errorf("%q is a privacy notice", empty)
		}
	}
}
