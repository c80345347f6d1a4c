package configs

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
)

// feedOptions returns the options for where lotteries publish and when that is fetched.
func feedOptions() []Option {
	return []Option{
		{Key: "feeds_sync", Default: "off", Help: "off, or when to fetch the lotteries' feeds: a cron expression, in UTC unless it begins with TZ=ZONE", set: func(c *Config, v string) error {
			if v == "off" {
				return nil
			}
			c.Feeds.Sync = v
			if every, ok := strings.CutPrefix(v, "@every "); ok {
				if d, err := time.ParseDuration(every); err == nil && d < time.Second {
					return fmt.Errorf("must be off, or a cron expression; @every needs a second or more, not %s", every)
				}
			}
			when, err := schedule(v)
			if err != nil || when.Next(time.Now()).IsZero() { // a 30th of February never comes
				return fmt.Errorf("must be off, or a cron expression such as \"15 * * * *\" (every hour at a quarter past), not %q", v)
			}
			return nil
		}},
		feedOption("feeds_ny_open_data_url", "https://data.ny.gov/resource/hsys-3def.json", "address of New York's dataset, as JSON", func(f *Feeds) *string { return &f.NYURL }),
		{Key: "feeds_ny_open_data_token", Default: "", Secret: true, Help: "app token for data.ny.gov; without one it works more slowly", set: func(c *Config, v string) error {
			c.Feeds.NYToken = v
			return nil
		}},
		feedOption("feeds_tx_lottery_url", "https://www.texaslottery.com/export/sites/lottery", "URL of Texas' files, the part before /Games", func(f *Feeds) *string { return &f.TexasURL }),
		feedOption("feeds_nc_lottery_url", "https://www.nclottery.com", "URL of North Carolina's files, scheme and host", func(f *Feeds) *string { return &f.NCURL }),
		feedOption("feeds_va_lottery_url", "https://www.valottery.com/api/v1/downloadall", "URL of Virginia's files, the part before ?gameId", func(f *Feeds) *string { return &f.VirginiaURL }),
		{Key: "feeds_allow_private", Default: "false", Help: "true: feeds may be on this machine or in a private network", set: func(c *Config, v string) (err error) {
			c.Feeds.AllowPrivate, err = boolean(v)
			return err
		}},
	}
}

// schedule parses a cron expression. It guards against the library, which panics on a time zone alone.
func schedule(v string) (cron.Schedule, error) {
	if strings.Contains(v, "TZ=") && !strings.Contains(v, " ") {
		return nil, errors.New("there is a time zone, but no times")
	}
	return cron.ParseStandard(v)
}

// feedOption returns the option for the URL of one feed.
func feedOption(key, address, help string, field func(*Feeds) *string) Option {
	return Option{Key: key, Default: address, Help: help, set: func(c *Config, v string) error {
		u, ok := baseAddress(v)
		if !ok {
			return fmt.Errorf("must be an http:// or https:// URL without ?, # or password%s", not(v))
		}
		*field(&c.Feeds) = u.String()
		return nil
	}}
}
