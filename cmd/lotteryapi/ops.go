package main

import (
	"context"
	"io"
	"net/http"
	"net/http/pprof"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"lottery/api/middleware"
	"lottery/jobs"
	"lottery/models"
)

// Limits of the operator's listener. It has few, known clients; a profile takes as long as it is asked to.
const (
	opsWriteTimeout = 5 * time.Minute
	opsHeaderBytes  = 16 << 10
	opsConnections  = 64
	scrapesAtOnce   = 4
	scrapeTimeout   = 10 * time.Second
)

// measure sets up the node's metrics and serves them at /metrics.
func (n *node) measure() {
	var log middleware.AccessLog
	if n.cfg.AccessLog {
		log = middleware.AccessLog{Log: n.log, Trusted: n.cfg.TrustedProxies}
	}
	// Without any of these, nobody would see the counts.
	if tracer := n.trace.server(n.cfg.TrustedProxies); n.cfg.OpsListen != "" || n.cfg.AccessLog || tracer != nil {
		n.traffic = middleware.NewTraffic(log, tracer)
		n.traffic.Register(n.metrics)
		n.knowPages()
	}
	n.conns = middleware.NewConnections(n.mostConnections())
	n.conns.Register(n.metrics)
	n.index = jobs.NewCatalogMetrics(&n.live)
	build := models.BuildVersion()
	n.metrics.MustRegister(n.index, jobs.NewStoredMetrics(n.store, &n.live, n.cfg.Feeds, time.Now),
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "lottery_build_info", Help: "1; the labels say which build runs on which database.",
			ConstLabels: prometheus.Labels{"version": build.String(), "database": n.store.Dialect()},
		}, func() float64 { return 1 }),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "lottery_ready", Help: "1 while /readyz says that the node should get requests.",
		}, func() float64 {
			if n.ready() != nil {
				return 0
			}
			return 1
		}))
}

// mostConnections returns max_connections, or half of the files that the process may open if that is less: once no file
// is left, no client is accepted, even if all the others are idle, and neither the database nor Redis can be reached.
func (n *node) mostConnections() int {
	most, files := n.cfg.MaxConnections, openFiles()
	if files == 0 || most <= files/2 {
		return most
	}
	n.log.Warn("fewer connections are held than max_connections: raise the limit of open files (ulimit -n, LimitNOFILE) to twice that",
		"max_connections", most, "open_files", files, "held", files/2)
	return files / 2
}

// programName replaces pprof.Cmdline, which also reveals the flags: --database-url contains a password.
func programName(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = io.WriteString(w, "lotteryapi")
}

// serveOps serves the operator's own listener, if one is configured. Unlike the public one it is there before the index:
// /healthz and /readyz of public say here that the node starts.
func (n *node) serveOps(ctx context.Context, public http.Handler, failed chan<- error) (*http.Server, error) {
	if n.cfg.OpsListen == "" {
		return nil, nil //nolint:nilnil // no listener configured
	}
	listener, err := listenOn(ctx, "ops_listen", n.cfg.OpsListen)
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.Handle("/metrics", promhttp.HandlerFor(n.metrics, promhttp.HandlerOpts{MaxRequestsInFlight: scrapesAtOnce, Timeout: scrapeTimeout}))
	mux.Handle("/healthz", public)
	mux.Handle("/readyz", public)
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/cmdline", programName)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	conns := middleware.NewConnections(opsConnections)
	server := &http.Server{
		Handler: mux, ReadHeaderTimeout: readHeaderTimeout, ReadTimeout: readTimeout, WriteTimeout: opsWriteTimeout, IdleTimeout: idleTimeout,
		MaxHeaderBytes: opsHeaderBytes, ConnState: conns.State, ConnContext: conns.Context,
	}
	go func() { failed <- server.Serve(conns.Listen(listener)) }()
	n.log.Info("operator's listener", "addr", listener.Addr().String())
	return server, nil
}
