package models

import "time"

// JobRun is the last run of a job, on whichever node it was.
type JobRun struct {
	Job         string `gorm:"primaryKey"`
	StartedAt   time.Time
	FinishedAt  *time.Time // nil = it is running, or was cut off: its lease tells which
	Node        string     // who ran it
	Outcome     string     // what was done, or why not
	Failed      bool
	Failures    int        // in a row, runs that were cut off included
	CutOffs     int        // in a row, runs whose node was killed
	SucceededAt *time.Time // the last time that it did not fail
}
