package importer

import (
	"strconv"

	"lottery/jobs/feed"
	"lottery/models"
)

// row is one acceptable draw of a file. A million of them stay in memory at once, hence the packing: 40 bytes.
type row struct {
	key     key
	number  uint64 // the digits; how many, the game says
	line    uint32 // physical line, from 1
	index   uint32 // which candidate of the file it was: the order of the report
	addons  uint32 // in the run's addonTable, as published
	merged  uint32 // by the plan: what the slot's add-ons become
	column  uint16 // of the number, in the run's columns
	written uint8  // how many digits were published (fewer where padded), with commas if withCommas is added
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
	outcomes // how many there are
)

// key is a slot in 64 bits that sort as slots do: game, date, tod, sequence.
type key uint64

func newKey(game int, date models.Date, tod models.Tod, sequence int) key {
	// The date's sign bit is turned, so that days before 1970 sort before those after.
	return key(game)<<48 | key(uint32(date)^1<<31)<<16 | key(tod)<<8 | key(sequence)
}

func (k key) game() int         { return int(k >> 48) }
func (k key) date() models.Date { return models.Date(int32(uint32(k>>16) ^ 1<<31)) }
func (k key) tod() models.Tod   { return models.Tod(k >> 8) }
func (k key) sequence() int     { return int(k & 0xff) }

// packNumber is the number in plain binary. ok is false where it is not exactly digits ASCII digits.
func packNumber(number string, digits int) (packed uint64, ok bool) {
	if len(number) != digits || !models.ValidNumber(number) {
		return 0, false
	}
	packed, err := strconv.ParseUint(number, 10, 64)
	return packed, err == nil
}

// unpackNumber is the number with its leading zeros.
func unpackNumber(packed uint64, digits int) string {
	b := make([]byte, digits)
	for i := digits - 1; i >= 0; i-- {
		b[i] = byte('0' + packed%10)
		packed /= 10
	}
	return string(b)
}

// published is a row's number as the file had it.
func (r *row) published(digits int) string {
	number := unpackNumber(r.number, digits)
	number = number[digits-int(r.written&^withCommas):]
	if r.written&withCommas != 0 {
		return feed.WithCommas(number)
	}
	return number
}

// nameTable gives names small numbers.
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
