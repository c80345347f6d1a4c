package api

// fiveTexts is numbers and number_str of five digits in two parts: of a hundred thousand numbers there would be too many
// texts, and to put digits one by one into one text takes longer.
type fiveTexts struct {
	two              [100]firstTwo   // by the first two digits
	three            [1000]lastThree // by the others
	twoLen, threeLen int
}

// firstTwo is a text up to the third digit of numbers, and the first two of number_str.
type firstTwo struct {
	numbers [24]byte // 22 bytes as JSON
	str     [4]byte
}

// lastThree is the text from there up to number_str, and what it ends with.
type lastThree struct {
	numbers [32]byte // 26 bytes as JSON
	str     [4]byte
}

func newFiveTexts(l *layout) *fiveTexts {
	var t fiveTexts
	var d digits
	text := func(number int) []byte {
		d.set(uint64(number), 5)
		return l.appendDrawn(nil, &d)
	}
	t.twoLen = len(l.numbers) + 2*(2*len(l.quote)+1+len(l.separator)) + len(l.quote)
	t.threeLen = len(text(0)) - t.twoLen - 5
	for i := range t.two {
		b := text(1000 * i)
		fill(b[:t.twoLen], t.two[i].numbers[:])
		fill(b[t.twoLen+t.threeLen:][:2], t.two[i].str[:])
	}
	for i := range t.three {
		b := text(i)[t.twoLen:]
		fill(b[:t.threeLen], t.three[i].numbers[:])
		fill(b[t.threeLen+2:], t.three[i].str[:])
	}
	return &t
}

// len is how long the texts of a number are.
func (t *fiveTexts) len() uint8 { return uint8(t.twoLen + t.threeLen + 5) }

// put writes the texts of a number at n, and gives where they end.
func (t *fiveTexts) put(room *recordSpace, n int, number uint64) int {
	two, three := &t.two[number/1000%100], &t.three[number%1000]
	*(*[24]byte)(room[n : n+24]) = two.numbers
	n = (n + t.twoLen) & recordMask
	*(*[32]byte)(room[n : n+32]) = three.numbers
	n = (n + t.threeLen) & recordMask
	*(*[4]byte)(room[n : n+4]) = two.str
	*(*[4]byte)(room[n+2 : n+6]) = three.str
	return (n + 5) & recordMask
}
