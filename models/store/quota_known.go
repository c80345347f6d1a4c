package store

import "math"

// knownCounters is what is known of counters. The zero value knows nothing.
type knownCounters struct {
	at   map[counterKey]int32 // where in list
	list []counter

	asked int   // how many were asked for; allAsked = all were, or are too many to read
	whole bool  // all counters of periods that begin at since or later are known: one that is not in at is zero
	since int64 // Unix seconds
	most  int   // how many are kept; 0 = mostKnown
}

// counter is what is known of one.
type counter struct {
	key     counterKey
	used    int64
	row     int64 // id of the newest row that names it; 0 = it was read from quota_counters
	next    int64 // what the contact under way makes of used
	changes bool  // it makes something of it
}

const (
	// mostKnown is how many counters are kept in memory, unless the log names more.
	mostKnown = 1_000_000
	// askedSingly is how many counters are asked for before all of the day are read at once. Few commands get there, nor
	// does a server of few customers.
	askedSingly = 1_000
	// mostRead is how many are read at once: requests wait meanwhile, a second at most.
	mostRead = 250_000

	allAsked = -1
)

// find tells where a counter is, and whether it is known.
func (n *knownCounters) find(k counterKey) (place int32, known bool) {
	if place, known = n.at[k]; known || !n.whole || k.start < n.since {
		return place, known
	}
	return n.add(k), true
}

// counter is a counter, until the next is added. One that was not known is zero.
func (n *knownCounters) counter(k counterKey) *counter {
	place := n.place(k)
	return &n.list[place]
}

// place is where a counter is. One that was not known is zero.
func (n *knownCounters) place(k counterKey) int32 {
	if place, known := n.at[k]; known {
		return place
	}
	return n.add(k)
}

func (n *knownCounters) add(k counterKey) int32 {
	if n.at == nil {
		n.at = map[counterKey]int32{}
	}
	place := int32(len(n.list)) // far fewer than 2³¹ customers ask in a day
	n.at[k] = place
	n.list = append(n.list, counter{key: k})
	return place
}

// wantAll tells whether all counters of the day are to be read, now that so many more are not known.
func (n *knownCounters) wantAll(unknown int) bool {
	if n.asked == allAsked {
		return false
	}
	n.asked += unknown
	return n.asked > askedSingly
}

// tooMany tells whether some are to be dropped.
func (n *knownCounters) tooMany() bool { return len(n.at) > max(n.most, mostKnown) }

// keep drops what is not wanted any more of periods that began before since.
func (n *knownCounters) keep(since int64, wanted func(c *counter) bool) {
	kept := knownCounters{asked: n.asked, whole: n.whole, since: max(n.since, since)}
	for i := range n.list {
		if c := &n.list[i]; c.key.start >= since || wanted(c) {
			*kept.counter(c.key) = *c
		}
	}
	*n = kept
}

// shrink drops what is not wanted where there were too many: from now on not all are known, nor read again.
func (n *knownCounters) shrink(wanted func(c *counter) bool) {
	n.keep(math.MaxInt64, wanted)
	n.whole, n.asked = false, allAsked
	n.most = 2 * len(n.at) // what stays may be too many by itself, and is not looked through for each request
}
