package main

import (
	"log/slog"
	"os"

	"golang.org/x/term"

	"lottery/api/middleware"
	"lottery/configs"
)

// newLogger returns a logger that writes text to a terminal and JSON otherwise. A request's lines have its id.
func newLogger(cfg configs.Config, w *logLines) *slog.Logger {
	opts := &slog.HandlerOptions{Level: cfg.LogLevel}
	format := cfg.LogFormat
	if file, ok := w.out.(*os.File); format == "" && ok && term.IsTerminal(int(file.Fd())) {
		format = "text"
	}
	var handler slog.Handler = slog.NewJSONHandler(w, opts)
	if format == "text" {
		handler = slog.NewTextHandler(w, opts)
	}
	log := slog.New(middleware.LogHandler(handler))
	w.mu.Lock()
	defer w.mu.Unlock()
	w.tell = func(left int) { log.Warn("lines of the log were left out here: nobody read them", "lines", left) }
	return log
}
