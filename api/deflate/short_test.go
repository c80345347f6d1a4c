package deflate_test

import (
	"bytes"
	stdgzip "compress/gzip"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"

	"lottery/api/deflate"
)

// checkShort checks that libraries can read a text that we compressed.
func checkShort(t *testing.T, text []byte) {
	t.Helper()
	before := []byte("what stood there")
	out := deflate.AppendShort(before, text)
	if !bytes.HasPrefix(out, before) {
		t.Fatal("what stood there is gone")
	}
	out = out[len(before):]
	for name, got := range readByAll(t, out) {
		if !bytes.Equal(got, text) {
			t.Fatalf("%q, as %s reads it: %q", text, name, got)
		}
	}
}

// readByAll returns what each library reads of a text that we compressed.
func readByAll(t *testing.T, coded []byte) map[string][]byte {
	t.Helper()
	std, err := stdgzip.NewReader(bytes.NewReader(coded))
	if err != nil {
		t.Fatal(err)
	}
	std.Multistream(false)
	other, err := gzip.NewReader(bytes.NewReader(coded))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]byte{}
	for name, r := range map[string]io.Reader{"the standard library": std, "klauspost's": other} {
		if all[name], err = io.ReadAll(r); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	return all
}

func TestShort(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "a", "aaaaaaaa", "abcdefgh", strings.Repeat("a", deflate.MaxShort), strings.Repeat("0123456789abcdef\xff\x90", 300), "\x00\x8f\x90\xff"} {
		checkShort(t, []byte(text))
	}
	// Every length of a match, at every kind of distance.
	for length := range 300 {
		for _, distance := range []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 13, 31, 32, 33, 100, 255, 256, 257, 1000, 4000, 4097, 7000} {
			rng := rand.New(rand.NewPCG(uint64(length), uint64(distance)))
			text := make([]byte, distance, deflate.MaxShort)
			for i := range text {
				text[i] = byte(rng.Uint32())
			}
			for i := range length {
				text = append(text, text[i])
			}
			checkShort(t, append(text, "the end of it"...))
		}
	}
}

func FuzzShort(f *testing.F) {
	f.Add([]byte(`{"draws":[{"date":"2020-12-31","tod":"Day","numbers":["8","0","3","7"]},{"date":"2020-12-26","tod":"Night","numbers":["5","1","6","6"]}]}`))
	f.Add([]byte("aaaaaaaaaaaaaaaabaaaaaaaaaaaaaaaaaa"))
	f.Fuzz(func(t *testing.T, text []byte) { checkShort(t, text[:min(len(text), deflate.MaxShort)]) })
}
