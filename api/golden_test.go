package api_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The golden answers were computed from goldenDraws outside this program, following the contract (testdata/golden: each
// file has a request and its whole answer). Key order, number format: every byte counts.
func TestGoldenAnswers(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/golden/*.json")
	if err != nil || len(files) < 20 {
		t.Fatalf("%d golden files, %v", len(files), err)
	}
	s := newServer(t)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".json"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var golden struct {
				Request string
				Answer  json.RawMessage
			}
			if err := json.Unmarshal(text, &golden); err != nil {
				t.Fatal(err)
			}
			var want bytes.Buffer
			if err := json.Compact(&want, golden.Answer); err != nil {
				t.Fatal(err)
			}
			res := s.get(t, golden.Request, nil)
			if res.Code != http.StatusOK {
				t.Fatalf("%s: %d %s", golden.Request, res.Code, res.Body)
			}
			if got := strings.TrimSuffix(res.Body.String(), "\n"); got != want.String() {
				t.Errorf("%s\n got %s\nwant %s", golden.Request, got, want.String())
			}
		})
	}
}
