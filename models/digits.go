package models

import "slices"

// MaxDigits is the length of the longest number that a game may draw and a search may ask for.
const MaxDigits = 10

// ValidNumber reports whether s is 1…MaxDigits ASCII digits.
func ValidNumber(s string) bool {
	if s == "" || len(s) > MaxDigits {
		return false
	}
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return true
}

// PowerOf10 is 10^n, the number of numbers of n digits, for n up to MaxDigits.
func PowerOf10(n int) uint64 {
	power := uint64(1)
	for range n {
		power *= 10
	}
	return power
}

// Normalized returns the digits of number in ascending order, which box matching compares: "9315" → "1359".
func Normalized(number string) string {
	b := []byte(number)
	slices.Sort(b)
	return string(b)
}

// DigitsSum adds up the digits of number.
func DigitsSum(number string) int {
	sum := 0
	for i := range len(number) {
		sum += int(number[i] - '0')
	}
	return sum
}

// Pairs2DP returns the pairs of number's digits at different places, each pair in ascending digit order, distinct and
// ascending: "86691" → 16 18 19 66 68 69 89; "777" → 77; "10" → 01; "5" → none. The encoder and the index have their
// own forms of pairs, which tests compare with this one.
func Pairs2DP(number string) []string {
	n := Normalized(number)
	pairs := make([]string, 0, len(n)*(len(n)-1)/2)
	for i := range len(n) {
		for j := i + 1; j < len(n); j++ {
			pairs = append(pairs, n[i:i+1]+n[j:j+1])
		}
	}
	slices.Sort(pairs)
	return slices.Compact(pairs)
}
