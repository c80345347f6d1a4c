package configs_test

import (
	"strings"
	"testing"

	"lottery/configs"
)

// Links and forms write the service's address as browsers and other programs do
// (https://url.spec.whatwg.org/#concept-url-serializer).
func TestPublicURLAsBrowsersWriteIt(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"https://bücher.example": "https://xn--bcher-kva.example", "https://BÜCHER.example:8443": "https://xn--bcher-kva.example:8443",
		"HTTPS://Draws.Example:443/": "https://draws.example", "http://draws.example:080": "http://draws.example", "http://draws.example:443": "http://draws.example:443",
		"https://draws_1.example": "https://draws_1.example", "http://[::1]:80": "http://[::1]", "http://[2001:DB8::1]:8080": "http://[2001:db8::1]:8080",
	} {
		cfg, err := configs.Load(configs.Source{Flags: map[string]string{"public_url": address}})
		if err != nil || cfg.PublicURL.String() != want {
			t.Errorf("%s: %v, %v, want %s", address, cfg.PublicURL, err, want)
		}
	}
	if _, err := configs.Load(configs.Source{Flags: map[string]string{"public_url": "https://xn--ü.example"}}); err == nil || !strings.Contains(err.Error(), "--public-url: must be ") {
		t.Errorf("%v", err)
	}
}

// Where nobody said at which URL people reach the server, links lead to the port that it listens on.
func TestPublicURLFollowsListen(t *testing.T) {
	t.Parallel()
	for listen, want := range map[string]string{
		"127.0.0.1:8090": "http://localhost:8090", ":80": "http://localhost", "[::1]:9000": "http://localhost:9000", "127.0.0.1:0": "http://localhost:8080",
	} {
		cfg, err := configs.Load(configs.Source{Getenv: env("LOTTERY_LISTEN", listen)})
		if err != nil || cfg.PublicURL.String() != want {
			t.Errorf("%s: %v, %v, want %s", listen, cfg.PublicURL, err, want)
		}
		for _, said := range []configs.Source{
			{Getenv: env("LOTTERY_LISTEN", listen, "LOTTERY_PUBLIC_URL", "http://localhost:8080")},
			{Getenv: env("LOTTERY_LISTEN", listen), Flags: map[string]string{"public_url": "http://localhost:8080"}},
			{Getenv: env("LOTTERY_LISTEN", listen), File: write(t, "public_url: http://localhost:8080\n")},
		} {
			if cfg, err := configs.Load(said); err != nil || cfg.PublicURL.String() != "http://localhost:8080" {
				t.Errorf("%s, but the URL is given: %v, %v", listen, cfg.PublicURL, err)
			}
		}
	}
	if _, err := configs.Load(configs.Source{Getenv: env("LOTTERY_LISTEN", "nowhere", "LOTTERY_PUBLIC_URL", "x")}); err == nil || !strings.Contains(err.Error(), "2 problem(s)") {
		t.Errorf("%v", err)
	}
}
