package catalog

import (
	"sync"

	"lottery/models"
)

// A box is the digits of a number in ascending order, which is what box matching compares. The boxes of n digits are
// numbered in ascending order of those digits. There are few (220 for three digits, 92,378 for ten), so the number of
// a box can index a table.

// boxesFrom is the number of boxes of length digits with no digit below lowest: C(length+9-lowest, length).
func boxesFrom(length, lowest int) uint32 {
	ways := 1
	for i := 1; i <= length; i++ {
		ways = ways * (9 - lowest + i) / i
	}
	return uint32(ways)
}

// boxCount is the number of boxes with that many digits.
func boxCount(digits int) int { return int(boxesFrom(digits, 0)) }

// boxesBelow[length][digit] is the number of boxes of that length whose first digit is less than digit.
var boxesBelow = func() (below [models.MaxDigits][11]uint32) {
	for length := range below {
		for digit := range 10 {
			below[length][digit+1] = below[length][digit] + boxesFrom(length, digit)
		}
	}
	return below
}()

// boxOf returns the box of a number with that many digits.
func boxOf(number uint64, digits int) uint32 {
	var count [10]uint8
	for range digits {
		count[number%10]++
		number /= 10
	}
	rank, left, previous := uint32(0), digits, 0
	for digit := range 10 {
		for range count[digit] {
			left--
			rank += boxesBelow[left][digit] - boxesBelow[left][previous]
			previous = digit
		}
	}
	return rank
}

// boxNumber returns the digits of a box in ascending order as a decimal number: the inverse of boxOf.
func boxNumber(box uint32, digits int) uint64 {
	number, digit := uint64(0), 0
	for left := digits - 1; left >= 0; left-- {
		base := boxesBelow[left][digit]
		for boxesBelow[left][digit+1]-base <= box {
			digit++
		}
		box -= boxesBelow[left][digit] - base
		number = number*10 + uint64(digit)
	}
	return number
}

// tableDigits is the most digits for which numbers index tables: those of boxTable, and counts per number.
const tableDigits = 5

// boxesOf has tables of the boxes with a given number of digits.
type boxesOf struct {
	once    sync.Once
	boxes   []uint16 // by number
	numbers []uint32 // the digits in ascending order, as a number, by box
	ways    []uint8  // number of distinct orders of the digits, by box
	sums    []uint8  // sum of the digits, by box
}

var boxTables [tableDigits + 1]boxesOf

// boxTable returns boxOf of every number with up to tableDigits digits, or nil for more. It is made on first use.
func boxTable(digits int) *boxesOf {
	if digits > tableDigits {
		return nil
	}
	t := &boxTables[digits]
	t.once.Do(func() {
		boxes := boxCount(digits)
		t.boxes, t.numbers = make([]uint16, models.PowerOf10(digits)), make([]uint32, boxes)
		t.ways, t.sums = make([]uint8, boxes), make([]uint8, boxes)
		for number := range t.boxes {
			box := boxOf(uint64(number), digits)
			if t.boxes[number] = uint16(box); t.ways[box] == 0 { // the smallest number of the box
				t.numbers[box], t.sums[box] = uint32(number), uint8(digitSum(uint64(number)))
			}
			t.ways[box]++
		}
	})
	return t
}
