package main

import (
	"bytes"
	"context"
	"strings"
	"testing"
)

func TestRun(t *testing.T) {
	t.Parallel()
	var stdout, stderr bytes.Buffer
	getenv := func(string) string { return "" }
	code := run(context.Background(), []string{"lotteryadmin", "version"}, getenv, strings.NewReader(""), &stdout, &stderr)
	if code != 0 || !strings.HasPrefix(stdout.String(), "lotteryadmin ") || stderr.Len() > 0 {
		t.Fatalf("exit code %d, %q, %q", code, &stdout, &stderr)
	}
	stdout.Reset()
	code = run(context.Background(), []string{"lotteryadmin"}, getenv, strings.NewReader(""), &stdout, &stderr)
	if code != 2 || stdout.Len() > 0 || !strings.Contains(stderr.String(), "Usage:") {
		t.Fatalf("exit code %d, %q, %q", code, &stdout, &stderr)
	}
}
