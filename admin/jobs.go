package admin

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"lottery/jobs"
	"lottery/models"
)

func (t *tool) jobs() *cli.Command {
	return &cli.Command{Name: "jobs", Usage: "the servers' background jobs", Subcommands: []*cli.Command{
		{
			Name: "list", Usage: "list the jobs, how each last went, and when it runs next",
			Description: "A job runs on one node at a time, whichever is first; if that is killed, another restarts it within 30\n" +
				"seconds. A failed job is retried after 10 minutes, then at growing intervals. Schedules are cron expressions\n" +
				"in UTC, unless they name a zone, from the configuration that this command reads: give it the same one as\n" +
				"the servers.\n\n" +
				"Example:\n  lotteryadmin jobs list",
			Action: t.stored(jobsList),
		},
		{
			Name: "run", Usage: "run a job now, in this process", ArgsUsage: strings.Join(jobs.Names(), "|"),
			Description: "It runs whatever its schedule says. If a server is already running it, the exit code is 5.\n\n" +
				"Example:\n  lotteryadmin jobs run cleanup",
			Action: t.stored(audited(jobsRun)),
		},
	}}
}

// job is a job as commands print it.
type job struct {
	Name         string  `json:"name"`
	What         string  `json:"what"`
	Schedule     *string `json:"schedule"` // null = not scheduled
	Off          *string `json:"off"`      // why it is not
	State        string  `json:"state"`    // never, running, cut_off, done, failed
	LastStarted  *string `json:"last_started"`
	LastFinished *string `json:"last_finished"`
	Node         *string `json:"node"`
	Outcome      *string `json:"outcome"`
	Failed       bool    `json:"failed"`
	Failures     int     `json:"failures"` // in a row
	Next         *string `json:"next"`     // by the schedule, if a server is running
}

func jobOf(j *jobs.Job, run *models.JobRun, running bool, now time.Time) job {
	out := job{Name: j.Name, What: j.What, State: "never"}
	if j.When != "" {
		next := j.Next(now)
		out.Schedule, out.Next = &j.When, stampOf(&next)
	} else {
		out.Off = &j.Off
	}
	if run == nil {
		return out
	}
	out.LastStarted, out.LastFinished, out.Node, out.Failures = stampOf(&run.StartedAt), stampOf(run.FinishedAt), &run.Node, run.Failures
	out.Failed, out.Outcome = run.Failed, textOf(run.Outcome)
	switch {
	case running:
		out.State = "running"
	case run.FinishedAt == nil:
		out.State = "cut_off"
	case run.Failed:
		out.State = "failed"
	default:
		out.State = "done"
	}
	return out
}

// allJobs returns the jobs as configured here.
func (c *call) allJobs(log *slog.Logger) []jobs.Job {
	d := jobs.Deps{
		Store: c.store, Feeds: c.cfg.Feeds, Contact: c.cfg.PublicURL.String(), Mail: c.cfg.Web.SMTPURL != "", Now: c.env.Now, Log: log,
	}
	if c.cfg.Stripe.On() {
		d.Billing = c.service()
	}
	return jobs.All(d)
}

func jobsList(ctx context.Context, c *call) error {
	runs, err := c.store.JobRuns(ctx)
	if err != nil {
		return err
	}
	all := c.allJobs(slog.New(slog.DiscardHandler))
	list := make([]job, 0, len(all))
	for i := range all {
		j := &all[i]
		last, running := runs[j.Name], false
		if last != nil && last.FinishedAt == nil {
			if running, err = jobs.Running(ctx, c.store, j); err != nil {
				return err
			}
		}
		list = append(list, jobOf(j, last, running, c.env.Now()))
	}
	mails, err := c.outbox(ctx)
	if err != nil {
		return err
	}
	return c.result(append(list, mails))
}

// outbox describes the outbox, which every server processes all the time. It is in the list because that is where
// people look.
func (c *call) outbox(ctx context.Context) (job, error) {
	q, err := c.store.OutboxState(ctx)
	if err != nil {
		return job{}, err
	}
	out := job{Name: "outbox", What: "send mails", Outcome: new(fmt.Sprintf("%s waiting, %d given up", models.Count(q.Waiting, "email"), q.Dead))}
	if c.cfg.Web.SMTPURL == "" {
		out.State, out.Off = "never", new("smtp_url is not set here")
	} else {
		out.State, out.Schedule = "running", new(fmt.Sprintf("every %s, on every node", models.OutboxEvery))
	}
	return out, nil
}

func jobsRun(ctx context.Context, c *call) error {
	// Some warnings are issued only once.
	log := slog.New(slog.NewTextHandler(c.env.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	all := c.allJobs(log)
	j, ok := jobs.Find(all, c.arg(0))
	if !ok {
		return models.Errorf(models.CodeNotFound, "there is no job %q; use %s", c.arg(0), models.OrList(jobs.Names()))
	}
	c.object = j.Name
	runner := jobs.Runner{Store: c.store, Node: jobs.NodeName() + " (lotteryadmin)", Log: log}
	run, err := runner.RunByHand(ctx, &j)
	if run.StartedAt.IsZero() {
		return err
	}
	return c.finish(jobOf(&j, &run, false, c.env.Now()), err)
}
