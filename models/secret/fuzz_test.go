package secret_test

import (
	"fmt"
	"hash/crc32"
	"strings"
	"testing"

	"lottery/models/secret"
)

// FuzzWellFormed compares the check of a key with its definition, implemented differently: the CRC-32 in base62 by fmt
// and strings instead of bytes. A key with one character changed is invalid.
func FuzzWellFormed(f *testing.F) {
	const good = "ldk_0123456789ABCDEFGHIJKLMNOPQRSTUV0OueG9"
	for _, seed := range []string{good, "", "ldk_", good[:41], good + "0", strings.ToLower(good), good[:40] + "\x00\xff", strings.Repeat("l", 42), "ldk_" + strings.Repeat("é", 19)} {
		f.Add(seed)
	}
	f.Add(secret.NewKey())
	const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	f.Fuzz(func(t *testing.T, key string) {
		want := false
		if body, ok := strings.CutPrefix(key, "ldk_"); ok && len(body) == 38 && strings.Trim(body, alphabet) == "" {
			sum := ""
			for n, i := uint64(crc32.ChecksumIEEE([]byte(key[:36]))), 0; i < 6; n, i = n/62, i+1 {
				sum = fmt.Sprintf("%c%s", alphabet[n%62], sum)
			}
			want = sum == key[36:]
		}
		if got := secret.WellFormed(key); got != want {
			t.Fatalf("WellFormed(%q) = %v, want %v", key, got, want)
		}
		if !want {
			return
		}
		for i := range key {
			changed := []byte(key)
			changed[i] ^= 1
			if secret.WellFormed(string(changed)) {
				t.Errorf("%q is well formed as %q is", changed, key)
			}
		}
	})
}
