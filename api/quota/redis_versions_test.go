package quota_test

import (
	"testing"

	"lottery/api/quota"
)

// The beginnings of what Redis 7 and 8, and Valkey 8 and 9, say about themselves.
func TestRedisVersions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		info, version string
		cluster       bool
	}{
		{"# Server\r\nredis_version:7.0.15\r\nredis_git_sha1:00000000\r\nredis_mode:standalone\r\nos:Linux\r\n", "redis 7.0.15", false},
		{"# Server\r\nredis_version:8.0.2\r\nredis_git_sha1:00000000\r\nredis_mode:cluster\r\nos:Linux\r\n", "redis 8.0.2", true},
		{"# Server\r\nredis_version:7.2.4\r\nserver_name:valkey\r\nvalkey_version:8.0.1\r\nredis_git_sha1:00000000\r\nserver_mode:standalone\r\n", "valkey 8.0.1", false},
		{"# Server\r\nredis_version:7.2.4\r\nserver_name:valkey\r\nvalkey_version:9.1.2\r\nvalkey_release_stage:ga\r\nserver_mode:cluster\r\n", "valkey 9.1.2", true},
		{"", "redis", false}, // INFO is refused
	} {
		if version, cluster := quota.ServerInfo(c.info); version != c.version || cluster != c.cluster {
			t.Errorf("%q: %q, cluster %v", c.info, version, cluster)
		}
	}
}

// Redis 6 reports why it refuses to write as an error of the script. Nothing was changed then; if that were thought
// unclear, what a node gives back in that contact would be lost.
func TestRefusalsOfRedis6(t *testing.T) {
	t.Parallel()
	const script = "ERR Error running script (call to f_b4388c0caa156a90df7441ee28a5d55f4e0283cc): @user_script:35: "
	for said, undone := range map[string]bool{
		script + "@user_script: 35: -OOM command not allowed when used memory > 'maxmemory'.":   true,
		script + "@user_script: 35: -READONLY You can't write against a read only replica.":     true,
		script + "@user_script: 35: Wrong number of args calling Redis command From Lua script": false,
		"OOM command not allowed when used memory > 'maxmemory'.":                               true,
		"WRONGTYPE Operation against a key holding the wrong kind of value":                     false,
		"NOPERM this user has no permissions to run the 'evalsha' command":                      true,
	} {
		if quota.Undone(said) != undone {
			t.Errorf("%q: %v", said, !undone)
		}
	}
}
