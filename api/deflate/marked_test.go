package deflate_test

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"lottery/api/deflate"
)

// Wherever marks are, what is read is the text: those of which nothing stands again, those within a match, and those
// near the end.
func TestMarked(t *testing.T) {
	t.Parallel()
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 3))
		text := make([]byte, rng.IntN(1<<rng.IntN(17)))
		letters := 1 + rng.IntN(256)
		for i := range text {
			if text[i] = byte(rng.IntN(letters)); i >= 300 && rng.IntN(3) > 0 {
				text[i] = text[i-300]
			}
		}
		var marks []deflate.Mark
		for at := 0; at < len(text); at += rng.IntN(40) {
			marks = append(marks, deflate.Mark{At: int32(at), Kind: uint8(rng.IntN(32))})
			if at == 0 {
				at++
			}
		}
		for name, got := range readByAll(t, deflate.AppendMarked(nil, text, marks)) {
			if !bytes.Equal(got, text) {
				t.Fatalf("seed %d: %s reads %d bytes, want %d", seed, name, len(got), len(text))
			}
		}
	}
}
