// Package catalog is the immutable in-memory index of all draws, from which the API answers.
//
// A Builder collects the draws, Build makes a Catalog of them, and Live gives requests the current one. A Catalog and
// everything reached from it never change, and any number of goroutines may read them.
//
// # How it is laid out
//
// A draw is 8 bytes. Each Game keeps its draws in one array, ascending by date, tod and sequence, which is the
// order of lists; a draw's index there is its position. Dates and cursors become bounds on positions, which a
// timeline locates, for most days exactly. For each property that can be searched for there is an ascending list or
// set of the draws that have it:
//
//   - a number, a box: the draws themselves, all tods in one list, with the indices of each tod's draws (keyIndex)
//   - two digits in given places: positions, separate by tod (postings)
//   - a sum, a pair of digits anywhere: sets of positions, of all draws and of each tod (drawSet)
//
// A query is then one run of draws per game, or one per tod where lists are separate by tod. Matches are counted
// by searching for the bounds, and listed by merging the runs from the wanted end; a search of all games with the
// same number of digits knows in advance whose draw comes next (mergeOrder). Whatever the dates, tod or cursor, a
// query touches only the draws that it lists or needs for locating them. The exception is statistics of a range of
// dates, which start from what was counted between the marks nearest to its ends (storedCounts, leaders) and
// correct it by the draws in between.
//
// For draws that nobody requested lately, the cost of a query is the number of places in memory that it reads.
// Therefore a search of a game reads two lists, not two for each tod.
//
// # What it costs
//
// A draw takes about 75 bytes in all, whether it has three to five digits or ten. Queries do not allocate if the slice
// that they append to has room.
package catalog
