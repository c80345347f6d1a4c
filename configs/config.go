// Package configs holds everything an operator can set, and the data that ships with the product.
package configs

import (
	"log/slog"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"lottery/models"
)

// Config holds the settings of one process. See lottery.example.yaml for their meaning.
type Config struct {
	Listen             string
	PublicURL          *url.URL
	DatabaseURL        string
	DatabaseURLFile    string // where DatabaseURL was read from; "" = it is not in a file
	RedisURL           string // "" = counters in the database
	RedisURLFile       string // as DatabaseURLFile
	TrustedProxies     []netip.Prefix
	WrongKeysPerMinute int // from one network address; 0 = no limit
	LogLevel           slog.Level
	LogFormat          string // text, json, or "" = text on a terminal, else json
	AccessLog          bool   // a line for each request
	MaxInFlight        int    // requests in flight at once; 0 = no limit
	MaxConnections     int    // of the public listener; 0 = no limit
	OpsListen          string // "" = no ops listener
	DrainDelay         time.Duration
	Plans              models.Plans
	Stripe             Stripe
	Web                Web
	Feeds              Feeds
}

// LeadsAstray reports whether mails or Stripe send people to a public_url that means only this machine, as the default
// does: on any other machine it leads nowhere.
func (c *Config) LeadsAstray() bool {
	if c.PublicURL == nil || (c.Web.SMTPURL == "" && !c.Stripe.On()) {
		return false
	}
	host := strings.ToLower(strings.TrimSuffix(c.PublicURL.Hostname(), "."))
	addr, _ := netip.ParseAddr(host) // of a name, an address that is neither
	return host == "localhost" || strings.HasSuffix(host, ".localhost") || addr.Unmap().IsLoopback() || addr.IsUnspecified()
}

// Feeds is where the lotteries publish, and when that is fetched.
type Feeds struct {
	Sync         string // a cron expression; "" = never automatically
	NYURL        string // the dataset's JSON
	NYToken      string // X-App-Token; "" = none
	TexasURL     string // the part before /Games
	NCURL        string // scheme and host
	VirginiaURL  string // the part before ?gameId
	AllowPrivate bool   // permit addresses of this machine and of private networks
}

// Stripe configures billing; an empty SecretKey means that nothing is sold.
type Stripe struct {
	SecretKey      string
	WebhookSecrets []string // an event may be signed by any of them
	APIURL         string   // "" = Stripe's own
	Grace          time.Duration
}

// StripeURL is the URL of Stripe's own API.
const StripeURL = "https://api.stripe.com"

// On reports whether anything is sold.
func (s *Stripe) On() bool { return s.SecretKey != "" }

// Live reports whether the key moves real money.
func (s *Stripe) Live() bool {
	return strings.HasPrefix(s.SecretKey, "sk_live_") || strings.HasPrefix(s.SecretKey, "rk_live_")
}

// Web configures the pages: mail, and the operator's own texts.
type Web struct {
	SMTPURL      string // "" = no mail is sent, and nobody can sign up
	MailFrom     string // "Name <name@example.com>"
	SupportEmail string // "" = none
	Terms        string // Markdown; "" = a plain default
	Privacy      string // Markdown; "" = a plain default
}

// Source is where Load reads from, in increasing precedence: defaults, the file, the environment, flags.
type Source struct {
	File   string // path of a YAML file, "" = none
	Getenv func(string) string
	// Environ holds all variables, "NAME=value". If there are problems, Load mentions what Strays finds in it, since
	// that may be the cause.
	Environ []string
	Flags   map[string]string // option key → value as given
	Serve   bool              // for a server: a missing option that it needs is a problem, too
}
