package web

import (
	"regexp"
	"strings"
	"testing"
)

// Examples have their fields in the API's order, and are valid responses: the sums, boxes and pairs of the draws are
// right.
func TestExamplesOfTheReference(t *testing.T) {
	t.Parallel()
	groups, err := loadReference("https://draws.example.com")
	if err != nil {
		t.Fatal(err)
	}
	tags := regexp.MustCompile(`<[^>]*>`)
	seen := 0
	for _, group := range groups {
		for _, op := range group.Operations {
			text := tags.ReplaceAllString(string(op.Example), "")
			first := map[string]string{
				"/v1/draws/recent": "draws total game next_cursor", "/v1/draws/search": "draws total game next_cursor number normalized exact_total box_total",
				"/v1/stats": "game game_name game_type total_draws date_range top_sums", "/v1/usage": "plan limit used remaining resets_at days",
			}[op.Path]
			if first == "" {
				continue
			}
			seen++
			at := -1
			for name := range strings.FieldsSeq(first) {
				next := strings.Index(text, "\n  &#34;"+name+"&#34;")
				if next < 0 {
					next = strings.Index(text, "\n  \""+name+"\"")
				}
				if next <= at {
					t.Errorf("%s: %s is not behind what comes before it:\n%.400s", op.Path, name, text)
				}
				at = next
			}
		}
	}
	if seen != 4 {
		t.Errorf("%d of 4 paths were seen", seen)
	}
}

// A game's name is shown literally, whatever it contains.
func TestPlainMarkdown(t *testing.T) {
	t.Parallel()
	const name = "Cash <b>4</b> & <img src=x> *Bonus* [x](javascript:1) `a|b` \\ 5_6_7"
	got, err := markdown(ours, "| a |\n|---|\n| "+plainMarkdown(name)+" |\n")
	const want = "Cash &lt;b&gt;4&lt;/b&gt; &amp; &lt;img src=x&gt; *Bonus* [x](javascript:1) `a|b` \\ 5_6_7"
	if err != nil || !strings.Contains(string(got), "<td>"+want+"</td>") {
		t.Errorf("%v %s", err, got)
	}
}
