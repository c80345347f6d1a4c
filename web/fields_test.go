package web

import (
	"encoding/json"
	"slices"
	"testing"
)

// The reference explains every field of every example, and nothing else but what may be missing from a response.
func TestFieldsOfTheReference(t *testing.T) {
	t.Parallel()
	groups, err := loadReference("https://draws.example.com")
	if err != nil {
		t.Fatal(err)
	}
	examples, err := readExamples("https://draws.example.com")
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, group := range groups {
		for _, op := range group.Operations {
			if len(examples[op.Path]) == 0 {
				continue
			}
			seen++
			var example any
			if err := json.Unmarshal(examples[op.Path], &example); err != nil {
				t.Fatal(err)
			}
			shown := map[string]bool{}
			namesIn("", example, shown)
			var explained []string
			for _, f := range op.Fields {
				explained = append(explained, f.Name)
				if f.Text == "" && op.Path[:3] == "/v1" {
					t.Errorf("%s: %s is not explained", op.Path, f.Name)
				}
				if !shown[f.Name] && f.Name != "next_cursor" && f.Name != "reason" {
					t.Errorf("%s: the example has no %s", op.Path, f.Name)
				}
			}
			for name := range shown {
				if !slices.Contains(explained, name) {
					t.Errorf("%s: %s is in the example, and not among the fields", op.Path, name)
				}
			}
		}
	}
	if seen < 10 {
		t.Errorf("%d paths have an example", seen)
	}
}

func namesIn(in string, v any, names map[string]bool) {
	switch v := v.(type) {
	case map[string]any:
		for name, inner := range v {
			names[in+name] = true
			if _, list := inner.([]any); list {
				name += "[]"
			}
			namesIn(in+name+".", inner, names)
		}
	case []any:
		for _, inner := range v {
			namesIn(in, inner, names)
		}
	}
}

func TestTypesOfTheReference(t *testing.T) {
	t.Parallel()
	groups, err := loadReference("https://draws.example.com")
	if err != nil {
		t.Fatal(err)
	}
	types := map[string]string{}
	for _, group := range groups {
		for _, op := range group.Operations {
			for _, f := range op.Fields {
				types[op.ID+" "+f.Name] = f.Type
			}
		}
	}
	for name, want := range map[string]string{
		"listRecentDraws draws": "array of objects", "listRecentDraws draws[].date": "date", "listRecentDraws draws[].numbers": "array of strings",
		"searchDraws draws[].match": "string", "getStats overdue_digits[].last_date": "date or null", "getStats overdue_digits[].draws_since": "integer or null",
		"getStats top_sums[].share": "number", "getStats hot_digits[].by_position": "array of integers", "getStats date_range": "object",
		"getOverview updated_at": "date-time",
	} {
		if types[name] != want {
			t.Errorf("%s is %q, not %q", name, types[name], want)
		}
	}
}
