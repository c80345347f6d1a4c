package admin

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"
)

func TestFetchedIsBounded(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(context.Background())
	stall := time.AfterFunc(time.Hour, func() {})
	body := &fetched{ctx: ctx, body: io.NopCloser(strings.NewReader("12345678901")), left: 10, stall: stall, cancel: cancel}
	if _, err := io.ReadAll(body); err == nil || !strings.Contains(err.Error(), "larger than 256 MiB") {
		t.Fatal(err)
	}
	exact := &fetched{ctx: ctx, body: io.NopCloser(strings.NewReader("1234567890")), left: 10, stall: stall, cancel: cancel}
	if text, err := io.ReadAll(exact); err != nil || len(text) != 10 {
		t.Fatal(len(text), err)
	}
}

// Fetching from a server that stops sending is given up, and the error says so.
func TestFetchedStalls(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(context.Background())
	silent, _ := io.Pipe()
	context.AfterFunc(ctx, func() { _ = silent.CloseWithError(context.Canceled) }) // as net/http does
	quiet := errors.New("nothing")
	body := &fetched{ctx: ctx, body: silent, left: 10, stall: time.AfterFunc(0, func() { cancel(quiet) }), cancel: cancel}
	if _, err := io.ReadAll(body); !errors.Is(err, quiet) {
		t.Fatal(err)
	}
}
