package api

// digits is a drawn number taken apart, as every form of a record needs it.
type digits struct {
	n      int
	drawn  [10]byte // in drawn order, as ASCII
	sorted [10]byte // ascending, as ASCII
	sum    int
}

func (d *digits) set(number uint64, n int) {
	var counts [10]byte
	d.n, d.sum = n, 0
	for i := n - 1; i >= 0; i-- {
		digit := byte(number % 10)
		number /= 10
		d.drawn[i] = '0' + digit
		counts[digit]++
		d.sum += int(digit)
	}
	at := 0
	for digit, count := range counts {
		for range count {
			d.sorted[at] = byte('0' + digit)
			at++
		}
	}
}
