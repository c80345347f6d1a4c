package api

// fiveTexts holds numbers and number_str of five-digit numbers in two parts: a hundred thousand whole texts would be
// too many, and assembling them digit by digit is slower.
type fiveTexts struct {
	two              [100]firstTwo   // by the first two digits
	three            [1000]lastThree // by the last three digits
	twoLen, threeLen int
}

// firstTwo is the text up to the third digit of numbers, and the first two digits of number_str.
type firstTwo struct {
	numbers [24]byte // 22 bytes as JSON
	str     [4]byte
}

// lastThree is the text from there up to number_str, and the last three digits of number_str.
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

// len is the length of a number's texts.
func (t *fiveTexts) len() uint8 { return uint8(t.twoLen + t.threeLen + 5) }

// put writes a number's texts at n and returns where they end.
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
