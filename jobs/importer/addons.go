package importer

import (
	"bytes"
	"hash/maphash"
	"iter"
	"maps"
	"slices"
	"strings"

	"lottery/jobs/feed"
	"lottery/models"
)

// addonTable stores each distinct set of add-ons once. Set 0 is empty. A set is stored as one text: name NUL value NUL
// …, names ascending. Add-ons contain no control characters (feed.Candidate.AddAddon).
type addonTable struct {
	sets   textStore
	places []uint64 // of sets, by number
	tags   []uint16 // of their hashes
	slots  []uint32 // hash table of sets with linear probing; 0 = free
	seed   maphash.Seed
	buf    []byte
	texts  map[uint32]string // database texts of recent sets
}

func newAddonTable() *addonTable {
	return &addonTable{places: make([]uint64, 1), tags: make([]uint16, 1), slots: make([]uint32, 1<<8), seed: maphash.MakeSeed(), texts: map[uint32]string{}}
}

// number returns the number of a set, adding it if necessary; it may reorder list. It returns 0 after sets has failed:
// its texts can no longer be told apart.
func (t *addonTable) number(list []feed.Addon) uint32 {
	if len(list) == 0 || t.sets.err != nil {
		return 0
	}
	slices.SortFunc(list, func(a, b feed.Addon) int { return strings.Compare(a.Name, b.Name) })
	t.buf = t.buf[:0]
	for _, a := range list {
		t.buf = append(append(t.buf, a.Name...), 0)
		t.buf = append(append(t.buf, a.Value...), 0)
	}
	hash := maphash.Bytes(t.seed, t.buf)
	slot, tag := t.slot(hash), uint16(hash>>48)
	for ; t.slots[slot] != 0; slot = (slot + 1) % len(t.slots) {
		if i := t.slots[slot]; t.tags[i] == tag && bytes.Equal(t.sets.text(t.places[i]), t.buf) {
			return i
		}
	}
	i := uint32(len(t.places))
	t.places, t.tags = append(t.places, t.sets.add(t.buf)), append(t.tags, tag)
	t.slots[slot] = i
	if 2*len(t.places) > len(t.slots) {
		t.grow()
	}
	return i
}

// slot returns where the search for a hash begins.
func (t *addonTable) slot(hash uint64) int { return int(hash & uint64(len(t.slots)-1)) }

func (t *addonTable) grow() {
	t.slots = make([]uint32, 2*len(t.slots))
	for i := 1; i < len(t.places); i++ {
		slot := t.slot(maphash.Bytes(t.seed, t.sets.text(t.places[i])))
		for t.slots[slot] != 0 {
			slot = (slot + 1) % len(t.slots)
		}
		t.slots[slot] = uint32(i)
	}
}

// each yields every add-on of set i.
func (t *addonTable) each(i uint32) iter.Seq2[string, string] {
	return func(yield func(name, value string) bool) {
		if i == 0 {
			return
		}
		for rest := string(t.sets.text(t.places[i])); rest != ""; {
			var name, value string
			name, rest, _ = strings.Cut(rest, "\x00")
			value, rest, _ = strings.Cut(rest, "\x00")
			if !yield(name, value) {
				return
			}
		}
	}
}

// union returns the union of two sets; ok is false if they give one name different values.
func (t *addonTable) union(a, b uint32) (_ uint32, ok bool) {
	switch {
	case a == b || b == 0:
		return a, true
	case a == 0:
		return b, true
	}
	values := t.addons(a)
	for name, value := range t.each(b) {
		if known, found := values[name]; found && known != value {
			return a, false
		}
		values[name] = value
	}
	return t.numberOf(values), true
}

// brings reports whether set i has an add-on that stored lacks or has with another value.
func (t *addonTable) brings(i uint32, stored models.Addons) bool {
	for name, value := range t.each(i) {
		if stored[name] != value { // no add-on is blank
			return true
		}
	}
	return false
}

// over returns stored overlaid with set i.
func (t *addonTable) over(stored models.Addons, i uint32) uint32 {
	if len(stored) == 0 {
		return i
	}
	values := maps.Clone(stored)
	maps.Insert(values, t.each(i))
	return t.numberOf(values)
}

// numberOf is number of a set in the model's type.
func (t *addonTable) numberOf(values models.Addons) uint32 {
	list := make([]feed.Addon, 0, len(values))
	for name, value := range values {
		list = append(list, feed.Addon{Name: name, Value: value})
	}
	return t.number(list)
}

// addons returns set i in the model's type.
func (t *addonTable) addons(i uint32) models.Addons {
	if i == 0 {
		return nil
	}
	return maps.Collect(t.each(i))
}

const maxTexts = 4096

// text returns set i as stored in the database.
func (t *addonTable) text(i uint32) string {
	if i == 0 {
		return ""
	}
	if text, ok := t.texts[i]; ok {
		return text
	}
	value, err := t.addons(i).Value()
	if err != nil {
		panic(err) // cannot happen for a map of strings
	}
	text, _ := value.(string)
	if len(t.texts) >= maxTexts {
		clear(t.texts)
	}
	t.texts[i] = text
	return text
}
