// Package catalog is the immutable in-memory index of all draws: what answers every question of the API.
//
// A Builder takes the draws, Build makes a Catalog of them, and Live hands the current one to the requests.
// A Catalog and everything reached from it never change and may be read by any number of goroutines.
//
// # How it is laid out
//
// A draw is 8 bytes. Each Game keeps its draws in one array, ascending by date, tod and sequence, which is the order of
// lists; a draw's index there is its position. Dates and cursors become bounds on positions, of which a timeline knows
// those of most days. For each thing that can be asked for there are the draws that have it, ascending:
//
//   - a number, a box: the draws themselves, of all tods in one list, and which of them each tod has (keyIndex)
//   - two digits in certain places: positions, apart by tod (postings)
//   - a sum, a pair of digits anywhere: sets of positions, of all and of each tod (drawSet)
//
// A query is then one run a game, or as many as the game has tods where lists are apart by tod: their matches are
// counted by searching for the bounds, and listed by merging the runs from the wanted end; a search of all games that
// have as many digits is told whose draw comes next (mergeOrder). No query looks at draws that it neither lists nor needs for
// locating, whatever the dates, the tod or the cursor; only statistics of a range of dates count: from what was counted
// between the marks nearest to its ends (storedCounts, leaders), mended by the draws between.
//
// Where draws are looked for that nobody asked for lately, what a query costs is the places in memory that it reads:
// therefore a search of a game reads two lists, and not two for each tod.
//
// # What it costs
//
// A draw of three to five digits takes about 75 bytes in all, one of ten digits about as much; queries allocate
// nothing when the slice they append to has room.
package catalog
