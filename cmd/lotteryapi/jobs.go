package main

import (
	"context"
	"net/http"

	"lottery/jobs"
)

// runJobs runs the servers' own jobs, each on one node at a time, until ctx ends.
func (n *node) runJobs(ctx context.Context) {
	list := jobs.All(jobs.Deps{
		Store: n.store, Billing: n.billing, Feeds: n.cfg.Feeds, Contact: n.cfg.PublicURL.String(), Mail: n.outbox != nil, Log: n.log,
		Through: func(next http.RoundTripper) http.RoundTripper { return n.trace.client("feed", next) },
	})
	metrics := jobs.NewMetrics(list)
	metrics.Register(n.metrics)
	schedule := &jobs.Schedule{Jobs: list, Runner: &jobs.Runner{Store: n.store, Node: jobs.NodeName(), Log: n.log, Metrics: metrics}}
	n.work.Go(func() {
		if err := schedule.Run(ctx); err != nil {
			n.log.Error("the jobs stopped badly", "error", err)
		}
	})
}
