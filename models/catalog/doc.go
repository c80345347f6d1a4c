// Package catalog is the immutable in-memory index of all draws: what answers every question of the API.
//
// A Builder takes the draws, Build makes a Catalog of them, and Live hands the current one to the requests.
// A Catalog and everything reached from it never change and may be read by any number of goroutines.
//
// # How it is laid out
//
// Each Game keeps its draws in one array, ascending by (date, tod, sequence); a draw is its position there.
// Within one game the order of lists is the order of positions, so dates and cursors become bounds on positions.
// For each thing that can be asked for (a tod, a sum, a pair, a number, a box) there are the positions of the
// draws that have it, kept apart by tod and ascending. A query is then at most six such lists a game: their
// matches are counted by binary search, and listed by merging from the wanted end. No query looks at draws
// that it neither lists nor needs for locating, whatever the dates, the tod or the cursor; only statistics scan.
//
// # What it costs
//
// A draw of three to five digits takes about 45 bytes in all; queries allocate nothing when the slice they
// append to has room.
package catalog
