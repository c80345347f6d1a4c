package api

import (
	"bytes"
	stdgzip "compress/gzip"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
)

// checkShortGzip has two libraries read a text that we compressed, and gives how long that is.
func checkShortGzip(t *testing.T, text []byte) (size int) {
	t.Helper()
	before := []byte("what stood there")
	out := appendShortGzip(before, text)
	if !bytes.HasPrefix(out, before) {
		t.Fatal("what stood there is gone")
	}
	out = out[len(before):]
	std, err := stdgzip.NewReader(bytes.NewReader(out))
	if err != nil {
		t.Fatal(err)
	}
	std.Multistream(false)
	if got, err := io.ReadAll(std); err != nil || !bytes.Equal(got, text) {
		t.Fatalf("%q, as the standard library reads it: %q, %v", text, got, err)
	}
	other, err := gzip.NewReader(bytes.NewReader(out))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(other); err != nil || !bytes.Equal(got, text) {
		t.Fatalf("%q, as klauspost's reads it: %q, %v", text, got, err)
	}
	return len(out)
}

func TestShortGzip(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "a", "aaaaaaaa", "abcdefgh", strings.Repeat("a", shortText), strings.Repeat("0123456789abcdef\xff\x90", 300), "\x00\x8f\x90\xff"} {
		checkShortGzip(t, []byte(text))
	}
	// Every length of a match, at every kind of distance.
	for length := range 300 {
		for _, distance := range []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 13, 31, 32, 33, 100, 255, 256, 257, 1000, 4000, 4097, 7000} {
			rng := rand.New(rand.NewPCG(uint64(length), uint64(distance)))
			text := make([]byte, distance, shortText)
			for i := range text {
				text[i] = byte(rng.Uint32())
			}
			for i := range length {
				text = append(text, text[i])
			}
			checkShortGzip(t, append(text, "the end of it"...))
		}
	}
}

func FuzzShortGzip(f *testing.F) {
	f.Add([]byte(`{"draws":[{"date":"2020-12-31","tod":"Day","numbers":["8","0","3","7"]},{"date":"2020-12-26","tod":"Night","numbers":["5","1","6","6"]}]}`))
	f.Add([]byte("aaaaaaaaaaaaaaaabaaaaaaaaaaaaaaaaaa"))
	f.Fuzz(func(t *testing.T, text []byte) { checkShortGzip(t, text[:min(len(text), shortText)]) })
}
