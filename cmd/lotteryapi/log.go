package main

import (
	"io"
	"log/slog"
	"os"

	"golang.org/x/term"

	"lottery/api/middleware"
	"lottery/configs"
)

// newLogger writes text for a person at a terminal, JSON for a machine. Lines of a request hold its id.
func newLogger(cfg configs.Config, w io.Writer) *slog.Logger {
	opts := &slog.HandlerOptions{Level: cfg.LogLevel}
	format := cfg.LogFormat
	if file, ok := w.(*os.File); format == "" && ok && term.IsTerminal(int(file.Fd())) {
		format = "text"
	}
	if format == "text" {
		return slog.New(middleware.LogHandler(slog.NewTextHandler(w, opts)))
	}
	return slog.New(middleware.LogHandler(slog.NewJSONHandler(w, opts)))
}
