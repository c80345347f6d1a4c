package configs

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"

	"github.com/redis/go-redis/v9"
)

// LocalURL returns the URL at which people on this machine reach an address that is listened on. It returns an error if
// that has no port, or one that the system is still to choose.
func LocalURL(listen string) (*url.URL, error) {
	_, port, err := net.SplitHostPort(listen)
	if err != nil {
		return nil, err
	}
	return origin("http://localhost:" + port)
}

// The addresses of databases are checked when the configuration is read, so that their faults are reported with all
// others. The messages contain no part of a password.

// sqliteAddress returns an error if the address does not name a file.
func sqliteAddress(v string) error {
	if path := strings.TrimPrefix(v, "sqlite:"); strings.Trim(path, "/") == "" || strings.HasPrefix(path, ":memory:") || strings.ContainsAny(path, "?#") {
		return errors.New("must be a file name without ? or #, such as sqlite:data/lottery.db")
	}
	return nil
}

// redisAddress returns an error if the client could not connect to the address; "" means no Redis.
func redisAddress(v string) error {
	const form = "must be redis://[:PASSWORD@]HOST:PORT[/DB], rediss:// for TLS, or unix://PATH"
	const escaped = form + "; in user and password, write @ as %40, / as %2F, ? as %3F and # as %23"
	_, rest, _ := strings.Cut(v, "://")
	switch _, err := url.Parse(v); {
	case v == "":
		return nil
	case torn(v):
		return errors.New(escaped)
	case err != nil || rest == "":
		return errors.New(form)
	}
	switch _, err := redis.ParseURL(v); {
	case err == nil:
		return nil
	case strings.Contains(err.Error(), "@"): // part of a password that contains a /
		return errors.New(escaped)
	default:
		return fmt.Errorf("%s (%s)", form, strings.TrimPrefix(err.Error(), "redis: "))
	}
}

// sslModes lists the values of sslmode that PostgreSQL's clients accept.
// https://www.postgresql.org/docs/current/libpq-ssl.html
var sslModes = []string{"disable", "allow", "prefer", "require", "verify-ca", "verify-full"}

// databaseAddress says what is wrong with a PostgreSQL URL, in its own words: net/url's errors repeat parts of the URL,
// which may be parts of the password.
func databaseAddress(v string) error {
	u, err := url.Parse(v)
	_, badEscape := errors.AsType[url.EscapeError](err)
	switch {
	case err == nil && !torn(v):
		if mode := u.Query().Get("sslmode"); mode != "" && !slices.Contains(sslModes, mode) {
			return fmt.Errorf("must be %s; sslmode is one of %s", databaseForm, strings.Join(sslModes, ", "))
		}
		return nil
	case err == nil:
		return fmt.Errorf("must be %s; in user and password, write @ as %%40, / as %%2F, ? as %%3F and # as %%23", databaseForm)
	case badEscape:
		return fmt.Errorf("must be %s; a %% must be followed by two hexadecimal digits: for a %% in the password itself, write %%25", databaseForm)
	case strings.Contains(err.Error(), "invalid port"):
		return fmt.Errorf("must be %s; the port is not a number: fix it, or, if it is part of the password, write / as %%2F, ? as %%3F and # as %%23", databaseForm)
	default:
		return fmt.Errorf("must be %s; in user and password, write anything but letters and digits as %% and two hexadecimal digits", databaseForm)
	}
}

// torn reports whether the user or password contains a delimiter of URLs. PostgreSQL's driver ends a part at the first
// @ and the first /, net/url at the last @, and also at ? and #. Where they differ, one of them takes part of the
// password for the host, and the host appears in errors and so in logs.
func torn(address string) bool {
	_, rest, _ := strings.Cut(address, "://")
	authority, path, _ := strings.Cut(rest, "/")
	path, _, _ = strings.Cut(path, "?")
	user, host, named := strings.Cut(authority, "@")
	if !named {
		return strings.Contains(path, "@")
	}
	return strings.Contains(host, "@") || strings.ContainsAny(user, "?#")
}
