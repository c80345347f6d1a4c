// Package secret makes the random tokens of the product, API keys and ids, from crypto/rand, and keeps secrets out of
// what is shown and logged. A key ends with a checksum, so that a mistyped one is recognized without a lookup and
// secret scanners can find leaked ones.
package secret

import (
	"crypto/rand"
	"crypto/sha256"
	"hash/crc32"
	"strings"
)

const (
	alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

	// KeyPrefix begins every API key.
	KeyPrefix = "ldk_"
	// KeyLength is the length of every API key.
	KeyLength = len(KeyPrefix) + randomLength + checksumLength
	// PrefixLength is how many characters of a key may be shown to tell it from others.
	PrefixLength = 12

	randomLength   = 32
	checksumLength = 6
	idLength       = 20
)

// NewKey returns a new API key: ldk_, 32 random characters of 0-9A-Za-z, and a checksum of 6.
func NewKey() string {
	body := KeyPrefix + random(randomLength)
	return body + checksum(body)
}

// WellFormed reports whether key has the form and the checksum of an API key.
func WellFormed(key string) bool {
	if len(key) != KeyLength || !strings.HasPrefix(key, KeyPrefix) {
		return false
	}
	for i := len(KeyPrefix); i < len(key); i++ {
		c := key[i]
		if (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') {
			return false
		}
	}
	body := key[:KeyLength-checksumLength]
	return key[len(body):] == checksum(body)
}

// Holds reports whether text contains a whole key.
func Holds(text string) bool {
	for {
		at := strings.Index(text, KeyPrefix)
		if at < 0 {
			return false
		}
		if text = text[at:]; len(text) >= KeyLength && WellFormed(text[:KeyLength]) {
			return true
		}
		text = text[len(KeyPrefix):]
	}
}

// Redacted returns text with every key, or what may be one, cut to the part that may be shown.
func Redacted(text string) string {
	from := 0
	for {
		at := strings.Index(text[from:], KeyPrefix)
		if at < 0 {
			return text
		}
		from += at + len(KeyPrefix)
		end := from
		for end < len(text) && strings.IndexByte(alphabet, text[end]) >= 0 {
			end++
		}
		if shown := from + PrefixLength - len(KeyPrefix); end > shown {
			text = text[:shown] + "…" + text[end:]
		}
	}
}

// Hash returns the SHA-256 of a token, the only form in which it is stored. Tokens have more than 190 random bits, so a
// plain hash cannot be brute-forced, and lookups by hash leak nothing through timing.
func Hash(token string) [sha256.Size]byte { return sha256.Sum256([]byte(token)) }

// NewID returns an id that cannot be guessed: prefix and 20 random characters.
func NewID(prefix string) string { return prefix + random(idLength) }

// random returns n characters of the alphabet, each equally likely.
func random(n int) string {
	out := make([]byte, 0, n)
	buf := make([]byte, 2*n)
	for len(out) < n {
		rand.Read(buf) // never fails since Go 1.24: it crashes the program instead
		for _, b := range buf {
			// 248 is the largest multiple of 62 in a byte; higher values would favor the first characters.
			if b < 248 && len(out) < n {
				out = append(out, alphabet[b%62])
			}
		}
	}
	return string(out)
}

// checksum is the CRC-32 (IEEE) of body in base62, zero-padded to 6 characters.
func checksum(body string) string {
	sum := crc32.ChecksumIEEE([]byte(body))
	var out [checksumLength]byte
	for i := checksumLength - 1; i >= 0; i-- {
		out[i] = alphabet[sum%62]
		sum /= 62
	}
	return string(out[:])
}
