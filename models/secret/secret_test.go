package secret_test

import (
	"strings"
	"testing"

	"lottery/models/secret"
)

func TestNewKeyIsWellFormedAndDistinct(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	first := 0 // of 62 characters the first 8: bytes reduced to 62 values would favor them
	for range 1000 {
		key := secret.NewKey()
		if len(key) != 42 || !strings.HasPrefix(key, "ldk_") || !secret.WellFormed(key) {
			t.Fatalf("NewKey made %q", key)
		}
		if seen[key] {
			t.Fatalf("NewKey made %q twice", key)
		}
		seen[key] = true
		first += len(key[4:36]) - len(strings.Map(func(r rune) rune {
			if r >= '0' && r <= '7' {
				return -1
			}
			return r
		}, key[4:36]))
	}
	if share := float64(first) / 32_000; share < 0.115 || share > 0.143 { // 8/62 = 0.129, seven standard deviations
		t.Errorf("the first characters of the alphabet are %.3f of all", share)
	}
}

// The checksum was computed with another implementation of CRC-32 (Python's zlib.crc32).
func TestWellFormed(t *testing.T) {
	t.Parallel()
	const good = "ldk_0123456789ABCDEFGHIJKLMNOPQRSTUV" + "0OueG9"
	for key, want := range map[string]bool{
		good:                                 true,
		"":                                   false,
		good[:41]:                            false,
		good + "0":                           false,
		"LDK_" + good[4:]:                    false,
		strings.Replace(good, "0", "1", 1):   false,
		strings.Replace(good, "01", "10", 1): false,
		good[:10] + "-" + good[11:]:          false,
		// a wrong beginning or wrong characters, with a matching checksum
		"LDK_0123456789ABCDEFGHIJKLMNOPQRSTUV" + "3xvq08": false,
		"ldk_012345678-ABCDEFGHIJKLMNOPQRSTUV" + "0NhKwY": false,
		"ldk_012345678/ABCDEFGHIJKLMNOPQRSTUV" + "4Z2jsN": false,
		"ldk_012345678:ABCDEFGHIJKLMNOPQRSTUV" + "1oUmqC": false,
		"ldk_012345678@ABCDEFGHIJKLMNOPQRSTUV" + "2UryAB": false,
		"ldk_012345678[ABCDEFGHIJKLMNOPQRSTUV" + "4fqmr2": false,
		"ldk_012345678`ABCDEFGHIJKLMNOPQRSTUV" + "2XGiql": false,
		"ldk_012345678{ABCDEFGHIJKLMNOPQRSTUV" + "4e1maW": false,
	} {
		if got := secret.WellFormed(key); got != want {
			t.Errorf("WellFormed(%q) = %v, want %v", key, got, want)
		}
	}
}

func TestHolds(t *testing.T) {
	t.Parallel()
	key := secret.NewKey()
	for text, want := range map[string]bool{
		"": false, "ldk_": false, "ldk_production_key_of_the_report_on_sundays": false, key[:12]: false, key[:41]: false, key[1:]: false,
		key: true, "report " + key + ".": true, "ldk_ldk_" + key: true, key[:41] + " " + key: true,
	} {
		if got := secret.Holds(text); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

func TestRedacted(t *testing.T) {
	t.Parallel()
	key := secret.NewKey()
	for text, want := range map[string]string{
		"": "", "ny-numbers": "ny-numbers", "ldk_": "ldk_", "ldk_12345678": "ldk_12345678", "ldk_123456789": "ldk_12345678…",
		key: key[:12] + "…", "a" + key + " b," + key: "a" + key[:12] + "… b," + key[:12] + "…",
	} {
		if got := secret.Redacted(text); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
}

func TestParameters(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"": "", "http://h/x.csv": "http://h/x.csv", "http://h/x?gameId=1050&$limit=5": "http://h/x?gameId=1050&$limit=5",
		"http://h/x?api_key=s3&gameId=1050":                     "http://h/x?api_key=xxxxx&gameId=1050",
		"http://h/x?gameId=1050&$$App_Token=s3":                 "http://h/x?gameId=1050&$$App_Token=xxxxx",
		"http://h/x?%24%24app_token=s3%20s3&a=1":                "http://h/x?%24%24app_token=xxxxx&a=1",
		"h?SECRET=s3&a=1&client-secret=s3&Password=s3&passwd=s": "h?SECRET=xxxxx&a=1&client-secret=xxxxx&Password=xxxxx&passwd=xxxxx",
		"h?pwd=s3&sig=s3&X-Amz-Signature=s3&auth=s3&b=2":        "h?pwd=xxxxx&sig=xxxxx&X-Amz-Signature=xxxxx&auth=xxxxx&b=2",
		"h?a=1;token=s3;s3#s3":                                  "h?a=1;token=xxxxx",
		"h?a=1#access_token=s3":                                 "h?a=1#access_token=xxxxx",
		"h?to=http://i?token=s3=s3:s3?s3":                       "h?to=http://i?token=xxxxx",
		"h?token=&a=1":                                          "h?token=&a=1", "h?token": "h?token", "monkey=1": "monkey=1", "h/key=1?a=token": "h/key=1?a=token",
		"h?token=s3: fetch: \"h?key=s3\" and `h?key=s3` fail, \"h?key=s\"3\": x": "h?token=xxxxx: fetch: \"h?key=xxxxx\" and `h?key=xxxxx` fail, \"h?key=xxxxx\": x",
	} {
		if got := secret.Parameters(text); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
		if got := secret.Parameters(want); got != want {
			t.Errorf("%q became %q the second time", want, got)
		}
	}
}

// A password of one letter does not take that letter from all words.
func TestWithout(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ password, text, want string }{
		{"", "cannot connect", "cannot connect"},
		{"c", "cannot connect to postgres://c:c@db/c?password=c: c refused", "cannot connect to postgres://xxxxx:xxxxx@db/xxxxx?password=xxxxx: xxxxx refused"},
		{"c", "c", "xxxxx"},
		{"c", "cc c-c ccc éc cé c1 1c", "cc xxxxx-xxxxx ccc éc cé c1 1c"},
		{"post", "postgres: post, (post)", "postgres: xxxxx, (xxxxx)"},
		{"!a", "x!a !a !ab", "x!a xxxxx !ab"},
		{"!a", "'!a!a'", "'xxxxxxxxxx'"},
		{"!", "no! no", "no! no"},
		{"a:a", "xa:a:a, a:a", "xa:xxxxx, xxxxx"},
		{"topsecret", "postgrestopsecret1 topsecret", "postgresxxxxx1 xxxxx"},
	} {
		if got := secret.Without(c.text, c.password); got != c.want {
			t.Errorf("%q without %q: %q, want %q", c.text, c.password, got, c.want)
		}
	}
}
