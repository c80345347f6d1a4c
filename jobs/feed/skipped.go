package feed

import (
	"strings"
	"unicode"
)

// Skip tells OnSkipped of a line that the form takes for a title or a disclaimer, if it may be a draw all the same.
func (f Form) Skip(line Line) {
	if f.OnSkipped != nil && manyNumbers(line.Text) {
		f.OnSkipped(line.Number, line.Text)
	}
}

// manyNumbers reports whether a line holds as many numbers as a date and a draw do, and fewer words than numbers.
func manyNumbers(line string) bool {
	numbers, words := 0, 0
	for part := range strings.FieldsFuncSeq(line, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		if BeginsWithDigit(part) {
			numbers++
		} else {
			words++
		}
	}
	return numbers >= 4 && numbers > words
}
