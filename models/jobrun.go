package models

import "time"

// JobRun is the last run of a job, on whichever node.
type JobRun struct {
	Job         string `gorm:"primaryKey"`
	StartedAt   time.Time
	FinishedAt  *time.Time // nil = running or cut off; the job's lease tells which
	Node        string     // the node that ran it
	Outcome     string     // what was done, or why not
	Failed      bool
	Failures    int        // consecutive failures, including runs that were cut off
	CutOffs     int        // consecutive runs whose node was killed
	SucceededAt *time.Time // the last time it succeeded
}
