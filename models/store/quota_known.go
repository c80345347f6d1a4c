package store

// knownCounters caches counters. The zero value knows none.
type knownCounters struct {
	at   map[counterKey]int32 // index in list
	list []counter

	asked int   // how many had to be queried; allAsked = all were read, or are too many to read
	whole bool  // all counters of periods that begin at since or later are known: one not in at is zero
	since int64 // Unix seconds
}

// counter is what is known about one counter.
type counter struct {
	key     counterKey
	used    int64
	row     int64 // id of the newest row that names it; 0 = read from quota_counters
	next    int64 // the value of used after the contact under way
	changes bool  // that contact changes it
}

const (
	// askedSingly is how many counters are queried one by one before all of the day are read at once. Few commands get
	// that far, nor does a server with few customers.
	askedSingly = 1_000
	// mostRead is how many are read at once: requests wait for it, a second at most.
	mostRead = 250_000

	allAsked = -1
)

// find returns where a counter is, and whether it is known.
func (n *knownCounters) find(k counterKey) (place int32, known bool) {
	if place, known = n.at[k]; known || !n.whole || k.start < n.since {
		return place, known
	}
	return n.add(k), true
}

// counter returns a counter; the pointer is valid until the next one is added. An unknown counter is added as zero.
func (n *knownCounters) counter(k counterKey) *counter {
	place := n.place(k)
	return &n.list[place]
}

// place returns where a counter is. An unknown counter is added as zero.
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
	place := int32(len(n.list)) // far fewer than 2³¹ customers make requests in a day
	n.at[k] = place
	n.list = append(n.list, counter{key: k})
	return place
}

// wantAll reports whether all counters of the day should be read, given that so many more are unknown.
func (n *knownCounters) wantAll(unknown int) bool {
	if n.asked == allAsked {
		return false
	}
	n.asked += unknown
	return n.asked > askedSingly
}

// keep drops counters of periods that began before since, unless they are wanted.
func (n *knownCounters) keep(since int64, wanted func(c *counter) bool) {
	kept := knownCounters{asked: n.asked, whole: n.whole, since: max(n.since, since)}
	for i := range n.list {
		if c := &n.list[i]; c.key.start >= since || wanted(c) {
			*kept.counter(c.key) = *c
		}
	}
	*n = kept
}
