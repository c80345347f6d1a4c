package deflate_test

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"lottery/api/deflate"
)

// Wherever the marks are, the text is read back: marks that nothing repeats, marks within a
// match, and marks near the end.
func TestMarked(t *testing.T) {
	t.Parallel()
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 3))
		text := make([]byte, rng.IntN(1<<rng.IntN(17)))
		// Some repeat so much that a match extends past the next marks.
		letters, kinds, back, changes := 1+rng.IntN(1<<rng.IntN(9)), 1+rng.IntN(32), 1+rng.IntN(300), 1+rng.IntN(100)
		for i := range text {
			if text[i] = byte(rng.IntN(letters)); i >= back && rng.IntN(changes) > 0 {
				text[i] = text[i-back]
			}
		}
		var marks []deflate.Mark
		for at := 0; at < len(text); at += rng.IntN(40) {
			marks = append(marks, deflate.Mark{At: int32(at), Kind: uint8(rng.IntN(kinds))})
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

// A match reaches back as far as a window, and no further.
func TestMarkedReachesBackAWindow(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(4, 3))
	sizes := map[int]int{}
	for _, back := range []int{deflate.Window - 1, deflate.Window, deflate.Window + 1} {
		text := make([]byte, back+deflate.LongestMatch)
		for i := range text {
			text[i] = byte(rng.Uint32())
		}
		copy(text[back:], text)
		coded := deflate.AppendMarked(nil, text, []deflate.Mark{{At: 0}, {At: int32(back)}})
		for name, got := range readByAll(t, coded) {
			if !bytes.Equal(got, text) {
				t.Errorf("%d back: %s reads %d bytes, want %d", back, name, len(got), len(text))
			}
		}
		sizes[back] = len(coded) - back
	}
	if sizes[deflate.Window]+deflate.LongestMatch/2 > sizes[deflate.Window+1] {
		t.Errorf("what stood a window before is written again: %v", sizes)
	}
}

// A match that ends past the next marks is continued by them: of a text that repeats, only the first part costs.
func TestMarkedContinues(t *testing.T) {
	t.Parallel()
	const period, times = 300, 20
	rng := rand.New(rand.NewPCG(1, 3))
	part := make([]byte, period)
	for i := range part {
		part[i] = byte(rng.IntN(256))
	}
	text := bytes.Repeat(part, times)
	var marks []deflate.Mark
	for at := 0; at < len(text); at += 100 {
		marks = append(marks, deflate.Mark{At: int32(at), Kind: uint8(at % period / 100)})
	}
	// Two matches each, of at most 5 bytes, and a letter of at most 9 bits each for the first part.
	if n, most := len(deflate.AppendMarked(nil, text, marks)), period*9/8+1+(times-1)*2*5+20; n > most {
		t.Errorf("%d bytes, want at most %d", n, most)
	}
}
