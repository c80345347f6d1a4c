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
