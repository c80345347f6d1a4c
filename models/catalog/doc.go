// Package catalog is the immutable in-memory index of all draws: what answers every question of the API.
//
// A Builder takes the draws, Build makes a Catalog of them, and Live hands the current one to the requests.
// A Catalog and everything reached from it never change and may be read by any number of goroutines.
//
// # How it is laid out
//
// A draw is 8 bytes. Each Game keeps its draws in one array, one tod (a section) after the other, ascending by
// date and sequence within each; a draw's index there is its position. Within a section the order of lists is
// the order of positions, so dates and cursors become bounds on positions. For each thing that can be asked for
// (a sum, a pair, a number, a box) there are the draws that have it, again apart by tod and ascending. A query
// is then at most six runs a game: their matches are counted by searching for the bounds, and listed by merging
// the runs from the wanted end. No query looks at draws that it neither lists nor needs for locating, whatever
// the dates, the tod or the cursor; only statistics of a range of dates count, with stored counts as a help.
//
// # What it costs
//
// A draw of three to five digits takes about 55 bytes in all, one of ten digits about as much; queries allocate
// nothing when the slice they append to has room.
package catalog
