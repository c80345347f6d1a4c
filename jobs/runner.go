package jobs

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"runtime/debug"
	"strconv"
	"sync"
	"time"

	"lottery/models"
	"lottery/models/store"
)

const (
	// leaseFor is how long a killed node keeps its jobs from others. Together with lookEvery it stays under the half
	// minute after which another node must have taken over. It is longer than an import holds SQLite's write lock,
	// which renewing a lease has to wait for.
	leaseFor = 20 * time.Second
	// longestOutcome is how many bytes of an outcome are kept.
	longestOutcome = 500
)

var (
	errTooLong   = errors.New("it took too long and was stopped")
	errLeaseGone = errors.New("its lock could not be kept, so it was stopped: another node may run it")
)

// Runner runs jobs. Of each job, at most one run is under way over all nodes.
type Runner struct {
	Store   *store.Store
	Node    string           // the node's name in job_runs
	Now     func() time.Time // nil = Store.Clock, which all nodes share
	Log     *slog.Logger
	Metrics *Metrics // nil = none
}

// NodeName identifies this process: the machine's name and the process id.
func NodeName() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return host + ":" + strconv.Itoa(os.Getpid())
}

// RunDue runs j if it is due and no other node is running it; ran reports whether it did.
func (r *Runner) RunDue(ctx context.Context, j *Job) (ran bool, err error) {
	_, ran, err = r.run(ctx, j, j.due)
	return ran, err
}

// RunByHand runs j now. CodeConflict means that it is running elsewhere. The run says how it went; err includes j's own
// error.
func (r *Runner) RunByHand(ctx context.Context, j *Job) (models.JobRun, error) {
	if j.When == "" && !j.ByHand {
		return models.JobRun{}, models.Errorf(models.CodeInvalid, "%s cannot be run: %s", j.Name, j.Off)
	}
	run, ran, err := r.run(ctx, j, func(*models.JobRun, time.Time) bool { return true })
	if ran || err != nil {
		return run, err
	}
	runs, err := r.Store.JobRuns(ctx)
	if err != nil {
		return run, err
	}
	where := "elsewhere"
	if last := runs[j.Name]; last != nil && last.FinishedAt == nil {
		where = fmt.Sprintf("on node %s, since %s", last.Node, last.StartedAt.UTC().Format(time.RFC3339))
	}
	return run, models.Errorf(models.CodeConflict, "%s is running %s; wait for it (`lotteryadmin jobs list` shows when it is done)", j.Name, where)
}

// clock returns the time by which runs are recorded. It is not this machine's: if a node recorded a run by a clock that
// is ahead, the others would not run the job until then.
func (r *Runner) clock(ctx context.Context) (time.Time, error) {
	if r.Now == nil {
		return r.Store.Clock(ctx)
	}
	return r.Now().UTC().Truncate(time.Microsecond), nil
}

func leaseName(j *Job) string { return "job:" + j.Name }

// Running reports whether a node is running j, or was a moment ago when it was killed.
func Running(ctx context.Context, st *store.Store, j *Job) (bool, error) {
	return st.Leased(ctx, leaseName(j))
}

// run takes j's lease, asks wanted about the last run, and runs j under the lease.
func (r *Runner) run(ctx context.Context, j *Job, wanted func(last *models.JobRun, now time.Time) bool) (run models.JobRun, ran bool, err error) {
	asked, cancel := r.Store.Bounded(ctx)
	defer cancel()
	lease, mine, err := r.Store.TryLease(asked, leaseName(j), leaseFor)
	if err != nil || !mine {
		return run, false, err
	}
	defer func() {
		after, cancel := r.Store.Lasting(ctx)
		defer cancel()
		if end := r.Store.EndLease(after, lease); end != nil {
			r.Log.DebugContext(ctx, "a job's lock ends by itself", "job", j.Name, "error", end)
		}
	}()
	runs, err := r.Store.JobRuns(asked)
	if err != nil {
		return run, false, err
	}
	now, err := r.clock(asked)
	if err != nil {
		return run, false, err
	}
	last := runs[j.Name]
	if !wanted(last, now) {
		return run, false, nil
	}
	run = models.JobRun{Job: j.Name, StartedAt: now, Node: r.Node}
	if last != nil {
		if j.ahead(last, now) {
			r.Log.WarnContext(ctx, "a job's last run is noted for a time that has not come; it is run again", "job", j.Name, "node", last.Node, "started", last.StartedAt)
		}
		run.Failures, run.CutOffs, run.SucceededAt = last.Failures, last.CutOffs, last.SucceededAt
		// Without an outcome, the run's node was killed: a node that is stopped records one.
		if last.FinishedAt == nil && last.Outcome == "" {
			run.Failures++
			run.CutOffs++
			r.Log.WarnContext(ctx, "a job was cut off; it is begun again", "job", j.Name, "node", last.Node, "started", last.StartedAt)
			r.Metrics.cutOff(j.Name)
		}
	}
	if err := r.Store.SaveJobRun(asked, lease, run); err != nil {
		return run, false, err
	}
	run, err = r.work(ctx, j, lease, run)
	return run, true, err
}

// work runs j while its lease is held, and records how it went.
func (r *Runner) work(ctx context.Context, j *Job, lease store.Lease, run models.JobRun) (models.JobRun, error) {
	working, stop := context.WithCancelCause(ctx)
	limited, cancel := context.WithTimeoutCause(working, j.Limit, errTooLong)
	var holding sync.WaitGroup
	holding.Go(func() { r.Store.HoldLease(limited, lease, leaseFor, func() { stop(errLeaseGone) }) })
	began := time.Now()
	outcome, err := safely(limited, j)
	cause := context.Cause(limited)
	cancel()
	stop(nil)
	holding.Wait()
	took := time.Since(began)
	if err != nil && (errors.Is(cause, errTooLong) || errors.Is(cause, errLeaseGone)) {
		err = fmt.Errorf("%w (%w)", cause, err)
	}
	if err != nil && ctx.Err() != nil { // told to stop: the next node begins again
		run.Outcome = "cut off: the node was stopped"
		r.Metrics.cutOff(j.Name)
	} else {
		finished := run.StartedAt.Add(took).Truncate(time.Microsecond)
		run.FinishedAt, run.Outcome, run.Failed, run.CutOffs = &finished, outcome, err != nil, 0
		if err == nil {
			run.SucceededAt, run.Failures = &finished, 0
		} else {
			run.Failures++
			run.Outcome = err.Error()
			if outcome != "" {
				run.Outcome = outcome + "; " + run.Outcome
			}
		}
		run.Outcome = shorten(run.Outcome)
		r.Metrics.ran(j.Name, took, err)
	}
	r.tell(ctx, &run, took, err)
	after, cancelNote := r.Store.Lasting(ctx)
	defer cancelNote()
	if save := r.Store.SaveJobRun(after, lease, run); save != nil {
		r.Log.WarnContext(ctx, "how a job went cannot be noted; it may be run again", "job", j.Name, "error", save)
		err = errors.Join(err, save)
	}
	return run, err
}

// tell logs how a run went.
func (r *Runner) tell(ctx context.Context, run *models.JobRun, took time.Duration, err error) {
	level, text := slog.LevelInfo, "a job is done"
	switch {
	case run.FinishedAt == nil:
		text = "a job is cut off, since this node stops"
	case err != nil:
		level, text = slog.LevelWarn, "a job failed; it is tried again"
	}
	r.Log.Log(ctx, level, text, "job", run.Job, "outcome", run.Outcome, "failures", run.Failures, "took_ms", took.Milliseconds())
}

// safely runs j and turns a panic into an error, so that the server survives.
func safely(ctx context.Context, j *Job) (outcome string, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("it panicked: %v\n%s", p, debug.Stack())
		}
	}()
	return j.Run(ctx)
}

func shorten(text string) string {
	if len(text) <= longestOutcome {
		return text
	}
	cut := longestOutcome
	for cut > 0 && text[cut]&0xC0 == 0x80 { // do not cut inside a character
		cut--
	}
	return text[:cut] + "…"
}
