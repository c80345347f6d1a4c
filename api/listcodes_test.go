package api

import (
	"testing"

	"lottery/api/deflate"
)

// At most 56 bits are added between two flushes, whatever the list: far matches of long texts,
// and the digits after them.
func TestListCodesFit(t *testing.T) {
	t.Parallel()
	for _, f := range []form{formJSON, formCSV} {
		c := listCodesOf(f)
		var digit, farthest uint
		for char := '0'; char <= '9'; char++ {
			digit = max(digit, c.Literals[char].N)
		}
		for distance := 1; distance <= deflate.Window; distance++ {
			farthest = max(farthest, c.Distance(distance).N)
		}
		fit := func(what string, n uint) {
			if n > 56 {
				t.Errorf("%s, %s: %d bits", formNames[f], what, n)
			}
		}
		fit("a date", 8*digit+2*c.Literals['-'].N)
		for length := deflate.ShortestMatch; length <= deflate.LongestMatch; length++ {
			fit("a match", c.Lengths[length].N+farthest)
		}
		for _, constant := range []constantCodes{c.drawn, c.normalized, c.sum} {
			fit("a constant and digits", max(constant.match.N+farthest, uint(constant.text&0xff))+maxKnownDigits*digit)
		}
		for n := 2; n <= maxKnownDigits; n++ {
			codes := numberCodesOf(f, n)
			var leading, last uint
			for _, d := range codes.leading {
				leading = max(leading, uint(d.list&0xff))
			}
			for _, d := range codes.last {
				last = max(last, uint(d.list&0xff))
			}
			fit("the items of numbers", leading+last)
		}
	}
}
