// Package openapi holds the API's contract as an OpenAPI 3.1 document.
package openapi

import (
	_ "embed"
	"fmt"

	"github.com/goccy/go-yaml"
)

//go:embed openapi.yaml
var document []byte

// YAML returns the document as written.
func YAML() []byte { return document }

// JSON returns the document converted to JSON.
func JSON() ([]byte, error) {
	b, err := yaml.YAMLToJSON(document)
	if err != nil {
		return nil, fmt.Errorf("openapi.yaml: %w", err)
	}
	return b, nil
}
