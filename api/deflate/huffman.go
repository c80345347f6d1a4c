package deflate

import "slices"

// NewCodes returns the best codes for symbols with the given frequencies, of which only the ratios matter. Every symbol
// that may occur must have a frequency of at least one.
func NewCodes(literals *[LiteralSymbols]int, distances *[DistanceSymbols]int) *Codes {
	l, d := huffman(literals[:], longestCode), huffman(distances[:], longestCode)
	return newCodes(head(l, d), l, d)
}

// head is the beginning of a final block whose codes have the given lengths: RFC 1951, 3.2.7.
func head(literals, distances []uint8) []Code {
	order := [...]uint8{16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15}
	const longest = 7 // bits of the code of a length
	told := repeated(slices.Concat(literals, distances))
	var often [len(order)]int
	for _, t := range told {
		often[t.symbol]++
	}
	lengths := huffman(often[:], longest)
	codes := canonical(lengths)
	all := []Code{{0b101, 3}, {LiteralSymbols - 257, 5}, {DistanceSymbols - 1, 5}, {uint32(len(order)) - 4, 4}}
	for _, symbol := range order {
		all = append(all, Code{uint32(lengths[symbol]), 3})
	}
	for _, t := range told {
		all = append(all, codes[t.symbol])
		if t.symbol == repeat {
			all = append(all, Code{uint32(t.times) - 3, 2})
		}
	}
	return all
}

// repeat is the symbol that repeats the previous length three to six times.
const repeat = 16

type toldLength struct {
	symbol uint8 // a length, or repeat
	times  int   // how often repeat repeats
}

// repeated encodes lengths of codes with repeat.
func repeated(lengths []uint8) (told []toldLength) {
	for len(lengths) > 0 {
		first := lengths[0]
		same := 1
		for same < len(lengths) && lengths[same] == first {
			same++
		}
		lengths = lengths[same:]
		told = append(told, toldLength{symbol: first})
		for same--; same >= 3; {
			times := min(same, 6)
			told = append(told, toldLength{repeat, times})
			same -= times
		}
		for range same {
			told = append(told, toldLength{symbol: first})
		}
	}
	return told
}

// huffman returns the lengths of the best codes, of at most limit bits, for symbols with the given frequencies. A
// symbol that never occurs has no code (0).
func huffman(often []int, limit uint8) []uint8 {
	type node struct {
		often   int
		symbols []int // below this node
	}
	var open []node // the rarest last
	put := func(n node) {
		at, _ := slices.BinarySearchFunc(open, n, func(a, b node) int { return b.often - a.often })
		open = slices.Insert(open, at, n)
	}
	for symbol, n := range often {
		if n > 0 {
			put(node{n, []int{symbol}})
		}
	}
	lengths := make([]uint8, len(often))
	for len(open) > 1 {
		a, b := open[len(open)-1], open[len(open)-2]
		open = open[:len(open)-2]
		both := node{a.often + b.often, slices.Concat(a.symbols, b.symbols)}
		for _, symbol := range both.symbols {
			lengths[symbol]++
		}
		put(both)
	}
	if slices.Max(lengths) <= limit {
		return lengths
	}
	flatter := make([]int, len(often))
	for symbol, n := range often {
		flatter[symbol] = (n + 1) / 2
	}
	return huffman(flatter, limit)
}
