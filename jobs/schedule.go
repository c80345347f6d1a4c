package jobs

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/go-co-op/gocron/v2"

	"lottery/models/store"
)

// lookEvery is how often a node checks for jobs that were missed or cut off.
const lookEvery = 4 * time.Second

// stopTimeout is how long to wait for jobs that were told to stop.
const stopTimeout = 20 * time.Second

// Schedule runs jobs by the clock. Every node has one; the Runner's leases decide which node runs a job.
type Schedule struct {
	Jobs   []Job
	Runner *Runner

	gocron []gocron.SchedulerOption // for tests

	mu      sync.Mutex
	ended   bool           // nothing may begin any more
	running sync.WaitGroup // what was begun
}

// Run runs jobs when they are due. It returns when ctx has ended and the running jobs have stopped.
func (s *Schedule) Run(ctx context.Context) error {
	clock, err := gocron.NewScheduler(append([]gocron.SchedulerOption{
		gocron.WithLocation(time.UTC), gocron.WithLogger(gocronLog{s.Runner.Log}),
		gocron.WithGlobalJobOptions(gocron.WithSingletonMode(gocron.LimitModeReschedule)),
	}, s.gocron...)...)
	if err != nil {
		return fmt.Errorf("make the schedule: %w", err)
	}
	timed := map[string]gocron.Job{}
	for i := range s.Jobs {
		j := &s.Jobs[i]
		if j.When == "" {
			continue
		}
		timed[j.Name], err = clock.NewJob(gocron.CronJob(j.When, false), gocron.NewTask(func() { s.runDue(ctx, j) }), gocron.WithName(j.Name))
		if err != nil {
			return errors.Join(fmt.Errorf("schedule %s: %w", j.Name, err), clock.Shutdown())
		}
	}
	clock.Start()
	(&looker{schedule: s, timed: timed}).run(ctx)
	s.end()
	return clock.Shutdown()
}

// begin registers work that begins; it returns false if the schedule has ended. Otherwise the caller must call
// running.Done.
func (s *Schedule) begin() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return false
	}
	s.running.Add(1)
	return true
}

// end prevents further work from beginning and waits for what is running. gocron could wait as well, but it polls
// without a pause, which would keep a processor busy while others serve their last requests.
func (s *Schedule) end() {
	s.mu.Lock()
	s.ended = true
	s.mu.Unlock()
	done := make(chan struct{})
	go func() {
		s.running.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(stopTimeout):
		s.Runner.Log.Warn("a job does not stop; it is left behind")
	}
}

func (s *Schedule) runDue(ctx context.Context, j *Job) {
	if !s.begin() {
		return
	}
	defer s.running.Done()
	if ctx.Err() != nil {
		return
	}
	if ran, err := s.Runner.RunDue(ctx, j); err != nil && !ran && ctx.Err() == nil {
		s.Runner.Log.WarnContext(ctx, "a job cannot be run now; it is tried again", "job", j.Name, "error", err)
	}
}

// looker finds jobs that are due although no clock says so: those of a node that was killed, those missed while no node
// was running, those that failed, and all jobs after this machine's clock was set back. gocron would then wait until the
// clock has reached again where it was, so the looker does not count its time by gocron.
type looker struct {
	schedule *Schedule
	timed    map[string]gocron.Job
	outage   store.Outage
	clocks   store.Clocks
}

// run looks every lookEvery until ctx ends.
func (l *looker) run(ctx context.Context) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		l.look(ctx)
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

func (l *looker) look(ctx context.Context) {
	if !l.schedule.begin() {
		return
	}
	defer l.schedule.running.Done()
	r := l.schedule.Runner
	asked, cancel := context.WithTimeout(ctx, lookEvery)
	defer cancel()
	runs, err := r.Store.JobRuns(asked)
	var now time.Time
	begun := time.Now()
	if err == nil {
		now, err = r.clock(asked)
	}
	if ctx.Err() != nil {
		return
	}
	l.outage.Note(r.Log, err, "it cannot be seen which jobs are due; they wait", "it can be seen again which jobs are due")
	if err != nil {
		return
	}
	if r.Now == nil {
		l.clocks.Compare(r.Log, "the database's", now, begun)
	}
	for i := range l.schedule.Jobs {
		j := &l.schedule.Jobs[i]
		if j.When == "" {
			continue
		}
		last := runs[j.Name]
		if last != nil {
			r.Metrics.seen(last)
		}
		if !j.due(last, now) {
			continue
		}
		if err := l.timed[j.Name].RunNow(); err != nil { // the next check comes soon
			r.Log.DebugContext(ctx, "a job cannot be begun now", "job", j.Name, "error", err)
		}
	}
}

// gocronLog passes the scheduler's complaints on to our log.
type gocronLog struct{ log *slog.Logger }

func (l gocronLog) Debug(string, ...any)           {}
func (l gocronLog) Info(string, ...any)            {}
func (l gocronLog) Warn(text string, args ...any)  { l.log.Warn("schedule: "+text, args...) }
func (l gocronLog) Error(text string, args ...any) { l.log.Error("schedule: "+text, args...) }
