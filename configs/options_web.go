package configs

import (
	"errors"
	"fmt"
	"net/mail"
	"net/url"
	"strconv"
	"strings"
)

// webOptions returns the options for the pages and their mails.
func webOptions() []Option {
	return []Option{
		smtpOption(),
		mailFromOption(),
		supportOption(),
		textOption("terms_file", "terms of use, a Markdown file; empty = a plain default", func(w *Web) *string { return &w.Terms }),
		textOption("privacy_file", "privacy notice, a Markdown file; empty = a plain default", func(w *Web) *string { return &w.Privacy }),
	}
}

func smtpOption() Option {
	return Option{Key: "smtp_url", Default: "", Secret: true, Help: "smtp://USER:PASSWORD@HOST:PORT, or smtps://: send mail; empty = none, and sign-up is off", set: func(c *Config, v string) error {
		if v == "" {
			return nil
		}
		u, err := url.Parse(v)
		// The error would repeat the password.
		if err != nil || (u.Scheme != "smtp" && u.Scheme != "smtps") || u.Hostname() == "" {
			return errors.New("must be smtp://USER:PASSWORD@HOST:PORT, or smtps:// for TLS from the start")
		}
		if n, err := strconv.ParseUint(u.Port(), 10, 16); u.Port() != "" && (err != nil || n == 0) {
			return fmt.Errorf("the port must be 1 to 65535, not %s", u.Port())
		}
		c.Web.SMTPURL = v
		return nil
	}}
}

func mailFromOption() Option {
	return Option{Key: "mail_from", Default: "", Help: "sender of emails, such as Lottery Draws API <noreply@example.com>", set: func(c *Config, v string) error {
		if v == "" {
			return nil
		}
		if _, err := mail.ParseAddress(v); err != nil {
			return fmt.Errorf("must be an address such as Lottery Draws API <noreply@example.com>, not %q", v)
		}
		c.Web.MailFrom = v
		return nil
	}}
}

func supportOption() Option {
	return Option{Key: "support_email", Default: "", Help: "where customers' questions go; shown on the pages", set: func(c *Config, v string) error {
		if v == "" {
			return nil
		}
		if parsed, err := mail.ParseAddress(v); err != nil || parsed.Address != v {
			return fmt.Errorf("must be an address such as support@example.com, not %q", v)
		}
		c.Web.SupportEmail = v
		return nil
	}}
}

// textOption returns the option for a Markdown file of the operator's.
func textOption(key, help string, field func(*Web) *string) Option {
	return Option{Key: key, Default: "", Help: help, set: func(c *Config, v string) error {
		if v == "" {
			return nil
		}
		text, err := readText(v)
		if err != nil {
			return fmt.Errorf("cannot be read: %w", err)
		}
		if *field(&c.Web) = string(text); strings.TrimSpace(string(text)) == "" {
			return fmt.Errorf("the file %s is empty", v)
		}
		return nil
	}}
}
