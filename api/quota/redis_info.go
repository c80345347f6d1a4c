package quota

import "strings"

// serverInfo is what INFO says in its section "server": lines of name:value. Empty if Redis may not be asked.
type serverInfo string

// field returns a value, "" if there is none.
func (s serverInfo) field(name string) string {
	for line := range strings.Lines(string(s)) {
		if value, ok := strings.CutPrefix(line, name+":"); ok {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// cluster reports whether the server is a node of a cluster. Valkey's name for the field is its own.
func (s serverInfo) cluster() bool {
	return s.field("redis_mode") == "cluster" || s.field("server_mode") == "cluster"
}

// version returns the program and its version: "redis 7.0.15". Valkey's redis_version is that of the Redis that it
// is compatible with.
func (s serverInfo) version() string {
	if v := s.field("valkey_version"); v != "" {
		return "valkey " + v
	}
	if v := s.field("redis_version"); v != "" {
		return "redis " + v
	}
	return "redis"
}
