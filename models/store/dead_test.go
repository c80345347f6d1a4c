package store_test

import (
	"slices"
	"testing"

	"lottery/models/store"
	"lottery/models/store/storetest"
)

// In every session PostgreSQL is told to notice that a machine is gone or a program stopped, and in transactions that
// hold locks for long even while it answers; existing settings are kept.
func TestDeadClientsAreGivenUp(t *testing.T) {
	t.Parallel()
	url := storetest.NewPostgres(t)
	for query, want := range map[string][]string{
		"": {"idle_in_transaction_session_timeout session", "tcp_keepalives_count session", "tcp_keepalives_idle session", "tcp_keepalives_interval session"},
		"&tcp_keepalives_idle=77&idle_in_transaction_session_timeout=60000": {"idle_in_transaction_session_timeout client", "tcp_keepalives_count session", "tcp_keepalives_idle client", "tcp_keepalives_interval session"},
	} {
		st, err := store.Open(t.Context(), url+query, store.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer st.Close()
		before, within, after, err := st.InSession(t.Context(),
			`SELECT name || ' ' || source FROM pg_settings WHERE source <> 'default' AND (name LIKE 'tcp\_%' OR name LIKE 'idle\_%' AND setting <> '0') ORDER BY name`)
		if err != nil || !slices.Equal(before, want) || !slices.Equal(within, append(want, "tcp_user_timeout session")) || !slices.Equal(after, want) {
			t.Errorf("%q: %q, %q, %q, %v", query, before, within, after, err)
		}
	}
}
