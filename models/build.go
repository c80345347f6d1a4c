package models

import (
	"runtime"
	"runtime/debug"
)

// version is stamped by `make release` with -ldflags "-X lottery/models.version=v1.2.3".
var version = ""

// Build identifies this program.
type Build struct {
	Version string `json:"version"` // v1.2.3, or dev
	Commit  string `json:"commit"`  // short hash, with + if the tree was modified; "" if unknown
	Date    string `json:"date"`    // of the commit, RFC 3339; "" if unknown
	Go      string `json:"go"`
}

// BuildVersion returns what was stamped into the binary.
func BuildVersion() Build {
	b := Build{Version: version, Go: runtime.Version()}
	if b.Version == "" {
		b.Version = "dev"
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = s.Value[:min(12, len(s.Value))]
		case "vcs.time":
			b.Date = s.Value
		case "vcs.modified":
			if s.Value == "true" {
				b.Commit += "+"
			}
		}
	}
	return b
}

// String returns the version, with the commit if it is known.
func (b Build) String() string {
	if b.Commit == "" {
		return b.Version
	}
	return b.Version + " (" + b.Commit + ")"
}
