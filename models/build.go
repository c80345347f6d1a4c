package models

import (
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
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

// Identity is String, and a hash of the program where that may be the same for others: built without a version and a
// commit, or from a tree with changes.
func (b Build) Identity() string {
	if changed := strings.HasSuffix(b.Commit, "+"); changed || b.Version == "dev" && b.Commit == "" {
		return b.String() + programHash()
	}
	return b.String()
}

// programHash is "" if the program's file cannot be read. Processors have this hash as an instruction: a server of 80 MB
// starts no later for it.
var programHash = sync.OnceValue(func() string {
	file, err := openProgram()
	if err != nil {
		return ""
	}
	defer file.Close() //nolint:errcheck // it was only read
	hash := crc32.New(crc32.MakeTable(crc32.Castagnoli))
	if _, err := io.Copy(hash, file); err != nil {
		return ""
	}
	return fmt.Sprintf(" %08x", hash.Sum32())
})

// openProgram opens the file of this program. On Linux that is the very file that runs, even if an upgrade has put
// another one in its place since: a server may wait for its database before it asks.
func openProgram() (*os.File, error) {
	if file, err := os.Open("/proc/self/exe"); err == nil {
		return file, nil
	}
	path, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return os.Open(path)
}
