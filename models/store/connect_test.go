package store

import (
	"testing"
	"time"
)

// A URL without a connect_timeout has one all the same; its own counts, 0 included, which waits for ever.
func TestConnectTimeout(t *testing.T) {
	t.Parallel()
	for query, want := range map[string]time.Duration{"": connectFor, "?connect_timeout=7": 7 * time.Second, "?connect_timeout=0": 0} {
		config, err := postgresConfig("postgres://u@127.0.0.1:1/x" + query)
		if err != nil || config.ConnectTimeout != want {
			t.Errorf("%q: %v %v", query, config, err)
		}
	}
}
