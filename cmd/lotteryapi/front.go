package main

import (
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"lottery/api"
	"lottery/api/middleware"
	"lottery/billing"
	"lottery/models"
)

// Limits of the public server. Responses are made in memory, so a slow request means a slow client.
const (
	readHeaderTimeout = 10 * time.Second
	readTimeout       = 15 * time.Second // of a whole request: bodies are forms and events of a few kilobytes
	writeTimeout      = 30 * time.Second // until the client has read the response
	idleTimeout       = 120 * time.Second
	// serverHeaderBytes is larger than middleware.MaxHeaderBytes: up to here the refusal is problem+json.
	serverHeaderBytes = 64 << 10
)

// server returns the server of the public listener.
func (n *node) server() (*http.Server, error) {
	handler := api.New(api.Deps{
		Catalog: &n.live, Keys: n.keys, Store: n.store, Quota: n.quota, Usage: n.usage, Warnings: n.warn,
		WrongKeys: middleware.NewWrongKeys(n.cfg.WrongKeysPerMinute, n.cfg.TrustedProxies), Traffic: n.traffic,
		Ready: n.ready, PublicURL: n.cfg.PublicURL.String(), Build: models.BuildVersion(), Log: n.log,
	})
	if n.unmetered != nil {
		handler = n.unmetered(handler)
	}
	handler, err := n.withPages(handler)
	if err != nil {
		return nil, err
	}
	front := middleware.NewFront(n.withWebhook(handler), n.cfg.MaxInFlight, n.cfg.PublicURL.String(), isPage, n.conns.Press)
	front.Register(n.metrics)
	server := &http.Server{
		Handler:           n.conns.Handler(front),
		ReadHeaderTimeout: readHeaderTimeout, ReadTimeout: readTimeout, WriteTimeout: writeTimeout, IdleTimeout: idleTimeout,
		MaxHeaderBytes: serverHeaderBytes, ConnState: n.conns.State, ConnContext: n.conns.Context,
		ErrorLog: slog.NewLogLogger(n.log.Handler(), slog.LevelDebug),
	}
	server.RegisterOnShutdown(n.conns.CloseWaiting)
	return server, nil
}

// ready returns why this node should get no traffic, or nil. It need not check the schema: that was brought up to date,
// or found to be, before the node began to listen.
func (n *node) ready() error {
	switch {
	case n.drained.Load():
		return errors.New("shutting down")
	case n.live.Load() == nil:
		return errors.New("the index of draws is being built")
	default:
		return nil
	}
}

// pageRoutes holds the metric labels of the pages. Those in pageFolders also label everything below them.
var (
	pageRoutes = []string{
		"/", "/pricing", "/explore", "/status", "/terms", "/privacy", "/docs", "/llms.txt", "/robots.txt", "/sitemap.xml", "/static", "/favicon.ico",
		"/sign-in", "/sign-up", "/sign-out", "/dashboard", "/dev",
	}
	pageFolders = []string{"/explore", "/docs", "/static", "/sign-in", "/dashboard", "/dev"}
)

// knowPages creates the counters of everything that is not the API.
func (n *node) knowPages() {
	for _, route := range append(slices.Clone(pageRoutes), billing.WebhookPath) {
		n.traffic.Know(route, route)
	}
}

// pageRoute returns the metric label of a page; "other" for anything that is not a page.
func pageRoute(r *http.Request) string {
	if slices.Contains(pageRoutes, r.URL.Path) {
		return r.URL.Path
	}
	for _, folder := range pageFolders {
		if below, ok := strings.CutPrefix(r.URL.Path, folder+"/"); ok && below != "" {
			return folder
		}
	}
	return middleware.OtherRoute
}
