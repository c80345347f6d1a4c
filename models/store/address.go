package store

import (
	"errors"
	"io/fs"
	"net/url"
	"os"
	"regexp"
	"strings"

	"lottery/models/secret"
)

// Exists reports whether the database may exist already: a SQLite file that does, or any PostgreSQL (only a connection
// can tell). It is also true for a file in a folder that may not be read, and for a folder in the file's place:
// opening it says what is wrong.
func Exists(databaseURL string) bool {
	path, ok := SQLiteFile(databaseURL)
	if !ok {
		return true
	}
	info, err := os.Stat(path)
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist)
	}
	return info.Mode().IsRegular() || info.IsDir()
}

// SQLiteFile returns the file of a sqlite: address; ok is false for other databases.
func SQLiteFile(databaseURL string) (path string, ok bool) {
	path, ok = strings.CutPrefix(databaseURL, "sqlite:")
	if path = strings.TrimPrefix(path, "//"); strings.HasPrefix(path, "//") { // sqlite:////data/lottery.db
		path = "/" + strings.TrimLeft(path, "/")
	}
	return path, ok
}

// DialectOf returns the dialect of a database URL.
func DialectOf(databaseURL string) string {
	if _, ok := SQLiteFile(databaseURL); ok {
		return SQLite
	}
	return Postgres
}

// sqliteURI returns the URI of a SQLite file, in which % begins an escape.
func sqliteURI(path string, options url.Values) string {
	return "file:" + strings.ReplaceAll(path, "%", "%25") + "?" + options.Encode()
}

// passwordParameter matches a password among the parameters of an address: password=, sslpassword=.
var passwordParameter = regexp.MustCompile("(password=)[^&\\s`]*")

// redact removes the passwords in databaseURL from text: the user's, and those among the parameters.
func redact(text, databaseURL string) string {
	u, err := url.Parse(databaseURL)
	if err != nil {
		return "the configured database"
	}
	if text == databaseURL {
		return passwordParameter.ReplaceAllString(u.Redacted(), "${1}xxxxx")
	}
	password, _ := u.User.Password()
	query := u.Query()
	for _, password := range []string{password, query.Get("password"), query.Get("sslpassword")} {
		text = secret.Without(text, password)
	}
	return passwordParameter.ReplaceAllString(text, "${1}xxxxx")
}
