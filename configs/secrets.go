package configs

import (
	"log/slog"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
)

// SecretFiles lists the files that hold secrets in the clear: the configuration file, if it contains any, and the files
// that the environment or the configuration file names.
func SecretFiles(src Source) []string {
	var list []string
	options := Options()
	file, _ := readFile(src.File, options) // Load reports the problems
	add := func(path string) {
		if path != "" && !slices.Contains(list, path) {
			list = append(list, path)
		}
	}
	for _, o := range options {
		if !o.Secret {
			continue
		}
		if holdsSecret(file[o.Key]) {
			add(src.File)
		}
		add(file[o.Key+"_file"])
		if src.Getenv != nil {
			add(src.Getenv(o.Env() + "_FILE"))
		}
	}
	return list
}

// holdsSecret reports whether value reveals more than an address.
func holdsSecret(value string) bool {
	if value == "" || strings.HasPrefix(value, "sqlite:") {
		return false
	}
	u, err := url.Parse(value)
	if err != nil || u.Host == "" {
		return true
	}
	_, password := u.User.Password()
	return password || u.Query().Has("password")
}

// Renewed returns a function that returns url as it is in file now, so that a server can use a password that was
// changed while it runs. While file cannot be read, it returns what it read last, and the log says so once. If file is
// "", it returns url.
func Renewed(url, file string, log *slog.Logger) func() string {
	var unread atomic.Bool
	var last atomic.Pointer[string]
	last.Store(&url)
	return func() string {
		if file == "" {
			return url
		}
		now, err := readSecret(file)
		if err == nil {
			unread.Store(false)
			last.Store(&now)
			return now
		}
		if !unread.Swap(true) {
			log.Warn("a password cannot be read from its file any more; new connections use the one that was read last", "file", file, "error", err)
		}
		return *last.Load()
	}
}
