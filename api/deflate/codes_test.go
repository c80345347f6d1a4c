package deflate_test

import (
	"bytes"
	"hash/crc32"
	"math/rand/v2"
	"testing"

	"lottery/api/deflate"
)

// Texts written with codes for random frequencies are read by two libraries: with every length of a match, distances of
// every symbol, and all bytes.
func TestCodes(t *testing.T) {
	t.Parallel()
	for seed := range uint64(60) {
		rng := rand.New(rand.NewPCG(seed, 1))
		var literals [deflate.LiteralSymbols]int
		var distances [deflate.DistanceSymbols]int
		for _, often := range [][]int{literals[:], distances[:]} {
			for i := range often {
				often[i] = 1 + int(rng.ExpFloat64()*float64(seed%4)*1000)
				if seed%5 == 0 { // as uneven as possible: codes must still not exceed 15 bits
					often[i] = 1 << (i % 40)
				}
			}
		}
		codes := deflate.NewCodes(&literals, &distances)
		text := make([]byte, 1+rng.IntN(40_000))
		for i := range text {
			text[i] = byte(rng.Uint32())
		}
		out := make([]byte, 1<<20)
		w := deflate.Begin(out, codes).Text(codes, out, text)
		for length := deflate.ShortestMatch; length <= deflate.LongestMatch; length++ {
			distance := 1 + rng.IntN(min(len(text), 1<<rng.IntN(16)))
			w = w.With(codes.Lengths[length]).With(codes.Distance(distance)).Flush(out)
			for range length {
				text = append(text, text[len(text)-distance])
			}
		}
		out = out[:w.End(codes, out, crc32.ChecksumIEEE(text), len(text))]
		for name, got := range readByAll(t, out) {
			if !bytes.Equal(got, text) {
				t.Fatalf("seed %d: %s reads %d bytes, want %d", seed, name, len(got), len(text))
			}
		}
	}
}

// Frequent symbols have short codes and rare ones long codes.
func TestCodesAreShort(t *testing.T) {
	t.Parallel()
	var literals [deflate.LiteralSymbols]int
	var distances [deflate.DistanceSymbols]int
	for i := range literals {
		literals[i] = 1
	}
	for i := range distances {
		distances[i] = 1
	}
	for digit := '0'; digit <= '9'; digit++ {
		literals[digit] = 10_000
	}
	codes := deflate.NewCodes(&literals, &distances)
	for digit := '0'; digit <= '9'; digit++ {
		if n := codes.Literals[digit].N; n < 3 || n > 4 { // ideally 3.3 bits
			t.Errorf("one of ten that are alike is written in %d bits", n)
		}
	}
	if n := codes.Literals['x'].N; n < 10 || n > 15 {
		t.Errorf("what never comes is written in %d bits", n)
	}
}

// These are from the tables of RFC 1951, 3.2.5.
func TestSymbols(t *testing.T) {
	t.Parallel()
	for length, want := range map[int]int{3: 257, 10: 264, 11: 265, 12: 265, 13: 266, 18: 268, 19: 269, 34: 272, 35: 273, 66: 276, 67: 277, 115: 280, 131: 281, 226: 283, 227: 284, 257: 284, 258: 285} {
		if got := deflate.LengthSymbol(length); got != want {
			t.Errorf("length %d: %d, want %d", length, got, want)
		}
	}
	for distance, want := range map[int]int{1: 0, 4: 3, 5: 4, 6: 4, 7: 5, 9: 6, 193: 15, 256: 15, 257: 16, 4096: 23, 4097: 24, 24576: 28, 24577: 29, 32768: 29} {
		if got := deflate.DistanceSymbol(distance); got != want {
			t.Errorf("distance %d: %d, want %d", distance, got, want)
		}
	}
}
