// Package configs is everything an operator can set, and the data that ships with the product.
package configs

import (
	"log/slog"
	"net/netip"
	"net/url"
	"time"

	"lottery/models"
)

// Config is the settings of one process. See lottery.example.yaml for what each means.
type Config struct {
	Listen             string
	PublicURL          *url.URL
	DatabaseURL        string
	RedisURL           string // "" = counters in the database
	TrustedProxies     []netip.Prefix
	WrongKeysPerMinute int // from one address; 0 = no limit
	LogLevel           slog.Level
	LogFormat          string // text, json, or "" = text on a terminal, else json
	OpsListen          string // "" = no ops listener
	DrainDelay         time.Duration
	Plans              models.Plans
}

// Source is where Load reads from; later ones win: defaults, the file, the environment, flags.
type Source struct {
	File   string // path of a YAML file, "" = none
	Getenv func(string) string
	Flags  map[string]string // option key → value as given
}
