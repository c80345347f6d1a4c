package main

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"lottery/models/store/storetest"
)

// A client that mistypes the beginning of an API path gets an error in the format that it reads, not a page.
func TestStrayAddressesOfTheAPI(t *testing.T) {
	t.Parallel()
	f := newFleet(t, 1, serveArgs(storetest.EmptyURL(t)))
	base := f.nodes[0].base
	for _, path := range []string{"//v1/games", "///v1", "/V1/games", "//V1/draws/recent?game=x", "/v1%2Fgames", "//openapi.json", "/healthz/", "//healthz", "/readyz/", "/openapi.yaml/", "/webhooks/none"} {
		for _, method := range []string{http.MethodGet, http.MethodPost} {
			res, body, err := f.send(base, method, path, "", http.Header{"Origin": {"https://page.example"}})
			if err != nil {
				t.Fatal(err)
			}
			var p struct{ Code string }
			if err := json.Unmarshal(body, &p); err != nil || p.Code != "not_found" || res.StatusCode != http.StatusNotFound ||
				res.Header.Get("Content-Type") != "application/problem+json" || res.Header.Get("Access-Control-Allow-Origin") != "*" {
				t.Errorf("%s %s: %d %v %.60s", method, path, res.StatusCode, res.Header, body)
			}
		}
	}
	for _, path := range []string{"//pricing", "/v1x", "/v2/games", "/pricing/"} {
		res, body, err := f.send(base, http.MethodGet, path, "", nil)
		if err != nil {
			t.Fatal(err)
		}
		if res.StatusCode != http.StatusNotFound || !strings.HasPrefix(res.Header.Get("Content-Type"), "text/html") {
			t.Errorf("%s: %d %v %.60s", path, res.StatusCode, res.Header, body)
		}
	}
}
