// Package configs is everything an operator can set, and the data that ships with the product.
package configs

import (
	"log/slog"
	"net/netip"
	"net/url"
	"strings"
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
	AccessLog          bool   // a line for each request
	MaxInFlight        int    // requests answered at once; 0 = as many as come
	MaxConnections     int    // of the public listener; 0 = as many as come
	OpsListen          string // "" = no ops listener
	DrainDelay         time.Duration
	Plans              models.Plans
	Stripe             Stripe
	Web                Web
	Feeds              Feeds
}

// LeadsAstray tells whether mails or Stripe lead people to a public_url that names this machine alone, as the default
// does: everywhere else it leads nowhere.
func (c *Config) LeadsAstray() bool {
	if c.PublicURL == nil || (c.Web.SMTPURL == "" && !c.Stripe.On()) {
		return false
	}
	host := strings.ToLower(strings.TrimSuffix(c.PublicURL.Hostname(), "."))
	addr, err := netip.ParseAddr(host)
	return host == "localhost" || strings.HasSuffix(host, ".localhost") || err == nil && (addr.Unmap().IsLoopback() || addr.IsUnspecified())
}

// Feeds is where the lotteries publish, and how often that is fetched.
type Feeds struct {
	Sync         string // a cron expression, or "" = never by itself
	NYURL        string // the dataset's JSON
	NYToken      string // X-App-Token; "" = none
	TexasURL     string // the part before /Games
	NCURL        string // scheme and host
	VirginiaURL  string // the part before ?gameId
	AllowPrivate bool   // addresses of this machine and of private networks too
}

// Stripe is how billing is connected; an empty SecretKey means that nothing is sold.
type Stripe struct {
	SecretKey      string
	WebhookSecrets []string // any of them may have signed an event
	APIURL         string   // "" = Stripe's own
	Grace          time.Duration
}

// StripeURL is Stripe's own API.
const StripeURL = "https://api.stripe.com"

// On tells whether anything is sold.
func (s *Stripe) On() bool { return s.SecretKey != "" }

// Live tells whether the key moves real money.
func (s *Stripe) Live() bool {
	return strings.HasPrefix(s.SecretKey, "sk_live_") || strings.HasPrefix(s.SecretKey, "rk_live_")
}

// Source is where Load reads from; later ones win: defaults, the file, the environment, flags.
type Source struct {
	File   string // path of a YAML file, "" = none
	Getenv func(string) string
	// Environ is all variables, "NAME=value": where there are problems, those that Strays tells of may be why.
	Environ []string
	Flags   map[string]string // option key → value as given
	Serve   bool              // for a server: what it cannot do without is a problem, too
}
