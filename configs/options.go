package configs

import (
	"errors"
	"fmt"
	"math"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"golang.org/x/net/idna"

	"lottery/models"
)

// EnvPrefix begins the name of every environment variable: option database_url is LOTTERY_DATABASE_URL.
const EnvPrefix = "LOTTERY_"

// Option is one setting. Its key is its name in the file; EnvPrefix + the upper-case key is the environment variable;
// the key with hyphens is the flag.
type Option struct {
	Key     string
	Default string
	Help    string
	Secret  bool                    // may be read from a file named by KEY_FILE
	file    func(c *Config) *string // where to store the name of that file; nil = nowhere
	set     func(c *Config, value string) error
}

// Env returns the name of the option's environment variable.
func (o *Option) Env() string { return EnvPrefix + strings.ToUpper(o.Key) }

// Flag returns the name of the option's flag, without hyphens in front.
func (o *Option) Flag() string { return strings.ReplaceAll(o.Key, "_", "-") }

//nolint:gosec // G101: a form, no password
const databaseForm = "sqlite:PATH or postgres://USER:PASSWORD@HOST/NAME"

// Options returns the table of all options.
func Options() []Option {
	return slices.Concat(serverOptions(), stripeOptions(), webOptions(), feedOptions())
}

func serverOptions() []Option {
	return []Option{
		{Key: "listen", Default: "127.0.0.1:8080", Help: "address to serve on, host:port", set: func(c *Config, v string) (err error) {
			c.Listen, err = hostPort(v)
			return err
		}},
		{Key: "public_url", Default: "http://localhost:8080", Help: "the URL at which people reach this service", set: func(c *Config, v string) (err error) {
			c.PublicURL, err = origin(v)
			return err
		}},
		{Key: "database_url", Default: "sqlite:data/lottery.db", Secret: true, file: func(c *Config) *string { return &c.DatabaseURLFile }, Help: databaseForm, set: func(c *Config, v string) error {
			scheme, rest, _ := strings.Cut(v, ":")
			if rest == "" || (scheme != "sqlite" && scheme != "postgres" && scheme != "postgresql") {
				return fmt.Errorf("must be %s", databaseForm)
			}
			check := databaseAddress
			if scheme == "sqlite" {
				check = sqliteAddress
			}
			if err := check(v); err != nil {
				return err
			}
			c.DatabaseURL = v
			return nil
		}},
		{Key: "redis_url", Default: "", Secret: true, file: func(c *Config) *string { return &c.RedisURLFile }, Help: "redis://HOST:PORT/DB: where to keep the daily quotas; empty = in the database", set: func(c *Config, v string) error {
			if err := redisAddress(v); err != nil {
				return err
			}
			c.RedisURL = v
			return nil
		}},
		{Key: "trusted_proxies", Default: "", Help: "addresses or networks, comma-separated, whose X-Forwarded-For is trusted", set: func(c *Config, v string) (err error) {
			c.TrustedProxies, err = prefixes(v)
			return err
		}},
		{Key: "wrong_keys_per_minute", Default: "30", Help: "wrong API keys allowed per minute from one address before it gets a 429; 0 = no limit", set: func(c *Config, v string) (err error) {
			c.WrongKeysPerMinute, err = count(v)
			return err
		}},
		{Key: "log_level", Default: "info", Help: "debug, info, warn or error", set: func(c *Config, v string) error {
			if c.LogLevel.UnmarshalText([]byte(v)) != nil {
				return fmt.Errorf("must be debug, info, warn or error, not %q", v)
			}
			return nil
		}},
		{Key: "log_format", Default: "", Help: "text or json (text on a terminal, else json)", set: func(c *Config, v string) (err error) {
			c.LogFormat, err = oneOf(v, "", "text", "json")
			return err
		}},
		{Key: "access_log", Default: "false", Help: "true: log every request; of the key, only its prefix", set: func(c *Config, v string) (err error) {
			c.AccessLog, err = boolean(v)
			return err
		}},
		{Key: "max_in_flight", Default: "512", Help: "requests handled at the same time; more are refused with 503 (0 = no limit)", set: func(c *Config, v string) (err error) {
			c.MaxInFlight, err = count(v)
			return err
		}},
		{Key: "max_connections", Default: "4096", Help: "connections open at the same time; idle ones give way to new ones (0 = no limit)", set: func(c *Config, v string) (err error) {
			c.MaxConnections, err = count(v)
			return err
		}},
		{Key: "ops_listen", Default: "", Help: "address of the operator's listener (metrics, profiles); keep it private", set: func(c *Config, v string) (err error) {
			if v != "" {
				c.OpsListen, err = hostPort(v)
			}
			return err
		}},
		{Key: "drain_delay", Default: "0s", Help: "how long to keep serving, but as not ready, after SIGTERM, so that balancers notice", set: func(c *Config, v string) (err error) {
			c.DrainDelay, err = duration(v)
			return err
		}},
		planOption("plan_free_requests_per_day", models.PlanFree, "counted requests per UTC day on the Free plan", func(t *models.PlanTerms) *int { return &t.RequestsPerDay }),
		planOption("plan_free_max_keys", models.PlanFree, "live keys on the Free plan", func(t *models.PlanTerms) *int { return &t.MaxKeys }),
		planOption("plan_pro_requests_per_day", models.PlanPro, "counted requests per UTC day on the Pro plan", func(t *models.PlanTerms) *int { return &t.RequestsPerDay }),
		planOption("plan_pro_max_keys", models.PlanPro, "live keys on the Pro plan", func(t *models.PlanTerms) *int { return &t.MaxKeys }),
	}
}

// planOption returns the option for one number of one plan; its default is what the product ships with.
func planOption(key string, plan models.Plan, help string, field func(*models.PlanTerms) *int) Option {
	terms := models.DefaultPlans()[plan]
	return Option{Key: key, Default: strconv.Itoa(*field(&terms)), Help: help, set: func(c *Config, v string) error {
		n, err := count(v)
		if err == nil && n > models.MostRequestsPerDay {
			err = fmt.Errorf("must be a whole number from 0 to %d, not %q", models.MostRequestsPerDay, v)
		}
		if err != nil {
			return err
		}
		t := c.Plans[plan]
		*field(&t) = n
		c.Plans[plan] = t
		return nil
	}}
}

// count parses a number; as in YAML, 10_000 is ten thousand.
func count(v string) (int, error) {
	n, err := strconv.Atoi(strings.ReplaceAll(v, "_", ""))
	if err != nil || n < 0 {
		return 0, fmt.Errorf("must be a whole number, 0 or more, not %q", v)
	}
	return n, nil
}

func boolean(v string) (bool, error) {
	b, err := strconv.ParseBool(v)
	if err != nil {
		return false, fmt.Errorf("must be true or false, not %q", v)
	}
	return b, nil
}

func hostPort(v string) (string, error) {
	_, port, _ := net.SplitHostPort(v) // "" if there is none
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return "", fmt.Errorf("must be host:port, such as 127.0.0.1:8080, not %q", v)
	}
	return v, nil
}

// origin parses a scheme and host, without a path: every link begins with it.
func origin(v string) (*url.URL, error) {
	u, ok := baseAddress(v)
	if !ok || u.Path != "" || !asBrowsersWrite(u) {
		return nil, fmt.Errorf("must be http:// or https:// and a host, optionally with a port, and without a password%s", not(v))
	}
	return u, nil
}

// asBrowsersWrite rewrites a URL's host as browsers write it in Origin: in lower case, in ASCII as in DNS, and without
// the scheme's default port. Otherwise forms of our own pages could seem to come from another site; and net/url escapes
// letters outside ASCII, which many programs cannot resolve. It returns false for an impossible host.
func asBrowsersWrite(u *url.URL) bool {
	host, port := strings.ToLower(u.Hostname()), strings.TrimLeft(u.Port(), "0")
	if strings.ContainsFunc(host, func(r rune) bool { return r > unicode.MaxASCII }) {
		var err error
		if host, err = idna.Lookup.ToASCII(host); err != nil {
			return false
		}
	}
	if u.Host = host; strings.Contains(host, ":") {
		u.Host = "[" + host + "]"
	}
	if usual := map[string]string{"http": "80", "https": "443"}; port != "" && port != usual[u.Scheme] {
		u.Host += ":" + port
	}
	return true
}

// baseAddress parses an http URL to which a path can be appended: nothing follows its own path, and its host can be
// reached. net/url would accept any number as a port, and a port without a host.
func baseAddress(v string) (*url.URL, bool) {
	u, err := url.Parse(strings.TrimSuffix(v, "/"))
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Hostname() == "" || u.User != nil ||
		u.RawQuery != "" || u.ForceQuery || u.Fragment != "" {
		return nil, false
	}
	if n, err := strconv.ParseUint(u.Port(), 10, 16); u.Port() != "" && (err != nil || n == 0) {
		return nil, false
	}
	return u, !strings.HasSuffix(u.Host, ":")
}

// not returns the end of an error about an address. It does not repeat an address that may contain a password or a
// token, since errors go to logs.
func not(address string) string {
	if strings.ContainsAny(address, "@?#") {
		return ""
	}
	return fmt.Sprintf(", not %q", address)
}

// prefixes parses a list of networks; its error names everything in it that is none.
func prefixes(v string) ([]netip.Prefix, error) {
	var list []netip.Prefix
	var wrong []string
	for text := range strings.SplitSeq(v, ",") {
		if text = strings.TrimSpace(text); text == "" {
			continue
		}
		p, err := prefix(text)
		if err != nil {
			wrong = append(wrong, err.Error())
		}
		list = append(list, p)
	}
	if wrong != nil {
		return nil, errors.New(strings.Join(wrong, "; "))
	}
	return list, nil
}

// prefix parses a network, or an address as a network of its own.
func prefix(text string) (netip.Prefix, error) {
	if addr, err := netip.ParseAddr(text); err == nil {
		return netip.PrefixFrom(addr.Unmap(), addr.Unmap().BitLen()), nil
	}
	p, err := netip.ParsePrefix(text)
	if err != nil {
		return p, fmt.Errorf("%q is neither an address nor a network such as 10.0.0.0/8", text)
	}
	if p.Addr().Is4In6() { // no request's address has that form
		if p.Bits() < 96 {
			return p, fmt.Errorf("%q covers more than IPv4 addresses: list IPv4 and IPv6 networks separately, as in 10.0.0.0/8, fd00::/8", text)
		}
		p = netip.PrefixFrom(p.Addr().Unmap(), p.Bits()-96)
	}
	return p.Masked(), nil
}

func oneOf(v string, allowed ...string) (string, error) {
	if slices.Contains(allowed, v) {
		return v, nil
	}
	return "", fmt.Errorf("must be %s, not %q", strings.Join(allowed[1:], " or "), v)
}

// mostHours is the longest possible time.Duration, in hours.
const mostHours = math.MaxInt64 / int64(time.Hour)

func duration(v string) (time.Duration, error) {
	d, err := time.ParseDuration(v)
	if err != nil || d < 0 {
		return 0, fmt.Errorf("must be a duration in hours, minutes and seconds, such as 168h, 2m or 1m30s, of at most %dh, not %q", mostHours, v)
	}
	return d, nil
}
