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

// The public server's own limits. Answers are made in memory, so a slow request is a slow client.
const (
	readHeaderTimeout = 10 * time.Second
	readTimeout       = 15 * time.Second // of a whole request: bodies are forms and events of a few kilobytes
	writeTimeout      = 30 * time.Second // until an answer has been taken
	idleTimeout       = 120 * time.Second
	// serverHeaderBytes is above middleware.MaxHeaderBytes: up to here the refusal is problem+json.
	serverHeaderBytes = 64 << 10
)

// server is the public listener's server.
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
	return &http.Server{
		Handler:           front,
		ReadHeaderTimeout: readHeaderTimeout, ReadTimeout: readTimeout, WriteTimeout: writeTimeout, IdleTimeout: idleTimeout,
		MaxHeaderBytes: serverHeaderBytes, ConnState: n.conns.State, ConnContext: n.conns.Context,
		ErrorLog: slog.NewLogLogger(n.log.Handler(), slog.LevelDebug),
	}, nil
}

// ready tells why this node should get no traffic. The schema was brought up to date, or found to be, before the node
// began to listen.
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

// pageRoutes is the labels of the pages. Those of pageFolders are also the labels of all that is below them.
var (
	pageRoutes = []string{
		"/", "/pricing", "/explore", "/status", "/terms", "/privacy", "/docs", "/llms.txt", "/robots.txt", "/sitemap.xml", "/static", "/favicon.ico",
		"/sign-in", "/sign-up", "/sign-out", "/dashboard", "/dev",
	}
	pageFolders = []string{"/explore", "/docs", "/static", "/sign-in", "/dashboard", "/dev"}
)

// knowPages makes the counters of what is not the API.
func (n *node) knowPages() {
	for _, route := range append(slices.Clone(pageRoutes), billing.WebhookPath) {
		n.traffic.Know(route, route)
	}
}

// pageRoute is the label of a page. What is no page is "other".
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
