package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"
)

// healthTimeout is longer than a live server ever takes.
const healthTimeout = 3 * time.Second

// healthcheck asks the server that listens on address on this machine. It is for supervisors of containers, which
// contain neither a shell nor curl. path is /healthz or /readyz.
func healthcheck(ctx context.Context, address, path string, stdout io.Writer) error {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return err // cannot happen: configs checked it
	}
	if ip := net.ParseIP(host); host == "" || (ip != nil && ip.IsUnspecified()) {
		host = "localhost" // it listens on all addresses
	}
	ctx, cancel := context.WithTimeout(ctx, healthTimeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+net.JoinHostPort(host, port)+path, http.NoBody)
	if err != nil {
		return err
	}
	client := &http.Client{Transport: &http.Transport{Proxy: nil, DisableKeepAlives: true}}
	res, err := client.Do(r)
	if err != nil {
		return fmt.Errorf("the server on %s does not respond: %w", address, rootError(err))
	}
	defer res.Body.Close() //nolint:errcheck // a few bytes, fully read
	body, err := io.ReadAll(io.LimitReader(res.Body, 1<<10))
	if err != nil {
		return fmt.Errorf("the server on %s broke off its response: %w", address, err)
	}
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("the server on %s responded with %d: %s", address, res.StatusCode, body)
	}
	_, err = fmt.Fprintln(stdout, string(body))
	return err
}
