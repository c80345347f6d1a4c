package store_test

import (
	"context"
	"testing"

	"lottery/models/store"
	"lottery/models/store/storetest"
)

// A release that adds columns does not disturb nodes of the previous one, whose statements are already prepared: they
// name the columns that they read.
func TestColumnsOfALaterRelease(t *testing.T) {
	t.Parallel()
	ctx, url := t.Context(), storetest.NewPostgres(t)
	st := storetest.OpenURL(t, url, store.Options{})
	account := storetest.Account(t, st, "ann@example.com")
	reads := map[string]func(context.Context) error{
		"account":  func(ctx context.Context) error { _, err := st.Account(ctx, account.ID); return err },
		"accounts": func(ctx context.Context) error { _, err := st.Accounts(ctx, store.AccountFilter{}); return err },
		"keys":     func(ctx context.Context) error { _, err := st.Keys(ctx, account.ID); return err },
		"known":    func(ctx context.Context) error { _, err := st.KeysByHash(ctx, [][32]byte{{1}}); return err },
		"games":    func(ctx context.Context) error { _, err := st.Games(ctx); return err },
		"jobs":     func(ctx context.Context) error { _, err := st.JobRuns(ctx); return err },
		"events":   func(ctx context.Context) error { _, err := st.Events(ctx, store.EventFilter{}); return err },
		"mails":    func(ctx context.Context) error { _, err := st.MailsNewest(ctx, store.MailFilter{}); return err },
		"sessions": func(ctx context.Context) error { _, err := st.Sessions(ctx, account.ID, 9); return err },
		"audit":    func(ctx context.Context) error { _, err := st.AuditOf(ctx, account.ID, 9); return err },
		"flags":    func(ctx context.Context) error { _, err := st.Flags(ctx, account.ID); return err },
	}
	readAll := func(when string) {
		t.Helper()
		for range 3 { // over whichever connections there are
			for what, read := range reads {
				if err := read(ctx); err != nil {
					t.Errorf("%s, %s: %v", what, when, err)
				}
			}
		}
	}
	readAll("at first")
	storetest.Exec(t, url, `DO $$ DECLARE t text; BEGIN
		FOR t IN SELECT tablename FROM pg_tables WHERE schemaname = 'public' LOOP
			EXECUTE format('ALTER TABLE %I ADD COLUMN of_a_later_release integer NOT NULL DEFAULT 0', t);
		END LOOP; END $$`)
	readAll("afterwards")
}
