package accept_test

import (
	"testing"

	"lottery/api/accept"
)

func TestQuality(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		header []string
		name   string
		of     func(pattern, name string) int
		want   float64
	}{
		{nil, "gzip", accept.Encoding, 0},
		{[]string{""}, "gzip", accept.Encoding, 0},
		{[]string{"gzip"}, "gzip", accept.Encoding, 1},
		{[]string{"GZIP"}, "gzip", accept.Encoding, 1},
		{[]string{"br, gzip ;q=0.5"}, "gzip", accept.Encoding, 0.5},
		{[]string{"br", "gzip"}, "gzip", accept.Encoding, 1},
		{[]string{"gzip;q=0"}, "gzip", accept.Encoding, 0},
		{[]string{"gzip; Q=0.000"}, "gzip", accept.Encoding, 0},
		{[]string{"gzip;level=9;q=0.5"}, "gzip", accept.Encoding, 0.5},
		{[]string{"gzip;q=1"}, "gzip", accept.Encoding, 1},
		{[]string{"gzip;q=2"}, "gzip", accept.Encoding, 0},
		{[]string{"gzip;q=-0.5"}, "gzip", accept.Encoding, 0},
		{[]string{"gzip;q="}, "gzip", accept.Encoding, 0},
		{[]string{"gzip;q=NaN"}, "gzip", accept.Encoding, 0},
		{[]string{"*"}, "gzip", accept.Encoding, 1},
		{[]string{"*, gzip;q=0"}, "gzip", accept.Encoding, 0},
		{[]string{"gzip, *;q=0"}, "gzip", accept.Encoding, 1},
		{[]string{"x-gzip, gzipped, identity"}, "gzip", accept.Encoding, 0},
		{[]string{"*, gzip"}, "identity", accept.Named, 0},
		{[]string{"gzip;q=0.5, identity"}, "identity", accept.Named, 1},
		{[]string{"text/*;q=0.3, text/csv, */*;q=0.1"}, "text/csv", accept.Media, 1},
		{[]string{"text/*;q=0.3, */*;q=0.1"}, "text/csv", accept.Media, 0.3},
		{[]string{"text/*;q=0.3, */*;q=0.1"}, "application/json", accept.Media, 0.1},
		{[]string{"text/csv;header=present;q=0.5, *;q=0.2"}, "text/csv", accept.Media, 0.5},
		{[]string{"text/csv;header=present;q=0.5, *;q=0.2"}, "application/json", accept.Media, 0.2},
		{[]string{"text/html"}, "application/json", accept.Media, 0},
	} {
		if q := accept.Quality(c.header, c.name, c.of); q != c.want {
			t.Errorf("%q: %s has %v, want %v", c.header, c.name, q, c.want)
		}
	}
}
