package jobs

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/go-co-op/gocron/v2"

	"lottery/models"
)

// lookEvery is how often a node looks for jobs that were missed or cut off.
const lookEvery = 4 * time.Second

// stopTimeout is how long the end waits for jobs, which were told to stop.
const stopTimeout = 20 * time.Second

// Schedule runs jobs by the clock. Every node has one; the Runner's leases decide whose turn it is.
type Schedule struct {
	Jobs   []Job
	Runner *Runner

	mu      sync.Mutex
	ended   bool           // nothing begins any more
	running sync.WaitGroup // what was begun
}

// Run runs jobs when they are due, until ctx ends and those that were running have stopped.
func (s *Schedule) Run(ctx context.Context) error {
	clock, err := gocron.NewScheduler(
		gocron.WithLocation(time.UTC), gocron.WithLogger(gocronLog{s.Runner.Log}),
		gocron.WithGlobalJobOptions(gocron.WithSingletonMode(gocron.LimitModeReschedule)),
	)
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
	look := &looker{schedule: s, timed: timed}
	_, err = clock.NewJob(gocron.DurationJob(lookEvery), gocron.NewTask(func() { look.look(ctx) }),
		gocron.WithName("look"), gocron.WithStartAt(gocron.WithStartImmediately()))
	if err != nil {
		return errors.Join(fmt.Errorf("schedule the look at jobs: %w", err), clock.Shutdown())
	}
	clock.Start()
	<-ctx.Done()
	s.end()
	return clock.Shutdown()
}

// begin says that work begins; false = the schedule has ended. Whoever began says running.Done.
func (s *Schedule) begin() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return false
	}
	s.running.Add(1)
	return true
}

// end lets nothing more begin, and waits for what has begun. gocron would wait, too, by asking without a pause whether
// it is done: that would keep a processor busy, while others answer their last requests.
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

// looker finds jobs that are due although no clock says so: those of a node that was killed, those whose hour passed
// while no node was there, and those that failed.
type looker struct {
	schedule *Schedule
	timed    map[string]gocron.Job
	away     bool
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
	if err == nil {
		now, err = r.clock(asked)
	}
	if ctx.Err() != nil {
		return
	}
	if err != nil && !l.away {
		r.Log.WarnContext(ctx, "it cannot be seen which jobs are due; they wait", "error", err)
	} else if err == nil && l.away {
		r.Log.InfoContext(ctx, "it can be seen again which jobs are due")
	}
	if l.away = err != nil; l.away {
		return
	}
	for i := range l.schedule.Jobs {
		j := &l.schedule.Jobs[i]
		if j.When == "" {
			continue
		}
		var last *models.JobRun
		if run, ok := runs[j.Name]; ok {
			last = &run
			r.Metrics.seen(last)
		}
		if !j.due(last, now) {
			continue
		}
		if err := l.timed[j.Name].RunNow(); err != nil { // the next look comes soon
			r.Log.DebugContext(ctx, "a job cannot be begun now", "job", j.Name, "error", err)
		}
	}
}

// gocronLog passes on what the scheduler complains of.
type gocronLog struct{ log *slog.Logger }

func (l gocronLog) Debug(string, ...any)           {}
func (l gocronLog) Info(string, ...any)            {}
func (l gocronLog) Warn(text string, args ...any)  { l.log.Warn("schedule: "+text, args...) }
func (l gocronLog) Error(text string, args ...any) { l.log.Error("schedule: "+text, args...) }
