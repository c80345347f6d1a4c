// Package openapi is the contract of the API as an OpenAPI 3.1 document.
package openapi

import (
	_ "embed"
	"fmt"

	"github.com/goccy/go-yaml"
)

//go:embed openapi.yaml
var document []byte

// YAML is the document as it was written.
func YAML() []byte { return document }

// JSON is the same document as JSON.
func JSON() ([]byte, error) {
	b, err := yaml.YAMLToJSON(document)
	if err != nil {
		return nil, fmt.Errorf("openapi.yaml: %w", err)
	}
	return b, nil
}
