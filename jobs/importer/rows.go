package importer

import (
	"cmp"
	"slices"
	"strconv"

	"lottery/jobs/feed"
	"lottery/models"
)

// row is one acceptable draw of a file. It is packed into 40 bytes, since a million of them are in memory at once.
type row struct {
	key     key
	number  uint64 // the digits; the game says how many
	line    uint32 // physical line, from 1
	index   uint32 // which candidate of the file it was: the order of the report
	addons  uint32 // index in the run's addonTable, as published
	merged  uint32 // set by the plan: the slot's resulting add-ons
	column  uint16 // the number's column: index in the run's columns
	written uint8  // how many digits were published (fewer if padded), plus withCommas if with commas
	outcome outcome
}

const withCommas = 0x80

// outcome is what the plan makes of a row.
type outcome uint8

const (
	undecided outcome = iota
	inserted
	unchanged
	corrected
	duplicate
	overruled
	conflicting
	outcomes // the number of outcomes
)

// writes reports whether the row changes what is stored.
func (o outcome) writes() bool { return o == inserted || o == corrected }

// key is a slot packed into 64 bits that sort like slots: game, date, tod, sequence.
type key uint64

func newKey(game int, date models.Date, tod models.Tod, sequence int) key {
	// The date's sign bit is flipped, so that days before 1970 sort first.
	return key(game)<<48 | key(uint32(date)^1<<31)<<16 | key(tod)<<8 | key(sequence)
}

func (k key) game() int         { return int(k >> 48) }
func (k key) date() models.Date { return models.Date(int32(uint32(k>>16) ^ 1<<31)) }
func (k key) tod() models.Tod   { return models.Tod(k >> 8) }
func (k key) sequence() int     { return int(k & 0xff) }

// packNumber returns the number in binary. ok is false unless it is exactly digits ASCII digits.
func packNumber(number string, digits int) (packed uint64, ok bool) {
	if len(number) != digits || !models.ValidNumber(number) {
		return 0, false
	}
	packed, err := strconv.ParseUint(number, 10, 64)
	return packed, err == nil
}

// unpackNumber returns the number with its leading zeros.
func unpackNumber(packed uint64, digits int) string {
	b := make([]byte, digits)
	for i := digits - 1; i >= 0; i-- {
		b[i] = byte('0' + packed%10)
		packed /= 10
	}
	return string(b)
}

// published returns a row's number as it was in the file.
func (r *row) published(digits int) string {
	number := unpackNumber(r.number, digits)
	number = number[digits-int(r.written&^withCommas):]
	if r.written&withCommas != 0 {
		return feed.WithCommas(number)
	}
	return number
}

// has reports whether the file has rows of a game, given by its index.
func (f *file) has(game int) bool {
	_, found := slices.BinarySearchFunc(f.rows, game, func(r row, game int) int { return cmp.Compare(r.key.game(), game) })
	return found
}

// nameTable maps names to small numbers.
type nameTable struct {
	names []string
	index map[string]uint16
}

func newNameTable() *nameTable { return &nameTable{index: map[string]uint16{}} }

func (t *nameTable) number(name string) uint16 {
	if i, ok := t.index[name]; ok {
		return i
	}
	i := uint16(len(t.names))
	t.names = append(t.names, name)
	t.index[name] = i
	return i
}

func (t *nameTable) name(i uint16) string { return t.names[i] }
