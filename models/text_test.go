package models_test

import (
	"strings"
	"testing"

	"lottery/models"
)

func TestCheckText(t *testing.T) {
	t.Parallel()
	for text, good := range map[string]bool{
		"a": true, `Pick 3, "the" <b>é</b>`: true, strings.Repeat("é", 100): true, // characters count, not bytes
		"": false, strings.Repeat("é", 101): false, "a\nb": false, "a\x00": false, "a\xff": false, "a\u0085": false,
		"\u0639\u0644\u064a": true, "\U0001f469\u200d\U0001f680": true, "a\u2028b": false, "a\u2029b": false, "a\u202eb": false, "a\u2066b": false,
		" ": false, "\u00a0": false, "\u200b": false, "\ufeff": false, "\u00ad": false, "\u3164": false, "\ufe0f": false, "\u2764\ufe0f": true, "\u3164.": true,
	} {
		if err := models.CheckText("a name", text, 1, 100); (err == nil) != good || (err != nil && models.ErrorCode(err) != models.CodeInvalid) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestCount(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]string{0: "0 accounts", 1: "1 account", 2: "2 accounts", 1000: "1000 accounts"} {
		if got := models.Count(n, "account"); got != want {
			t.Errorf("%d: %q", n, got)
		}
	}
}

func TestOrList(t *testing.T) {
	t.Parallel()
	for want, words := range map[string][]string{"": nil, "a": {"a"}, "a or b": {"a", "b"}, "a, b or c": {"a", "b", "c"}} {
		if got := models.OrList(words); got != want {
			t.Errorf("%q: %q", words, got)
		}
	}
}
