package store_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"lottery/models"
	"lottery/models/store"
	"lottery/models/store/storetest"
)

// postMail adds a mail of that name to the outbox.
func postMail(t *testing.T, st *store.Store, accountID, name string) {
	t.Helper()
	if err := st.PostMail(t.Context(), models.Mail{AccountID: accountID, Kind: models.MailWelcomePro, Data: "{}", Once: name}); err != nil {
		t.Fatal(err)
	}
}

func dueMails(t *testing.T, st *store.Store, want int) []store.DueMail {
	t.Helper()
	list, err := st.ClaimMails(t.Context(), 100, time.Minute)
	if err != nil || len(list) != want {
		t.Fatalf("%d mails are due, want %d: %v", len(list), want, err)
	}
	return list
}

// Two nodes share the outbox: each mail is sent by only one.
func TestMailsAtOnce(t *testing.T) {
	twoNodes(t, func(t *testing.T, a, b *store.Store) {
		account := storetest.Account(t, a, "ann@example.com")
		const mails = 60
		for i := range mails {
			postMail(t, a, account.ID, fmt.Sprint("mail ", i))
		}
		takenAtOnce(t, a, b, mails, func(ctx context.Context, st *store.Store) (names []string, err error) {
			list, err := st.ClaimMails(ctx, 7, time.Minute)
			for _, m := range list {
				names = append(names, m.Once)
			}
			return names, err
		})
	})
}

// Many mails about daily limits do not keep others waiting, which are sent in the order in which they became due.
func TestMailsAboutLimitsComeLast(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		account := storetest.Account(t, st, "ann@example.com").ID
		for _, percent := range []int{80, 100} {
			if _, err := st.WarnUsage(t.Context(), account, models.QuotaUsed{Day: march, Percent: percent, Limit: 100}, true); err != nil {
				t.Fatal(err)
			}
		}
		postMail(t, st, account, "first")
		postMail(t, st, account, "second")
		var order []string
		for range 4 {
			list, err := st.ClaimMails(t.Context(), 1, time.Minute)
			if err != nil || len(list) != 1 {
				t.Fatal(list, err)
			}
			order = append(order, list[0].Once)
		}
		limit := "quota_used:" + account + ":" + march.String()
		if want := []string{"first", "second", limit + ":80:100", limit + ":100:100"}; !slices.Equal(order, want) {
			t.Errorf("in the order %q, want %q", order, want)
		}
	})
}

// A mail that was sent or given up is no longer due, and once sent has no error from before.
func TestMailLives(t *testing.T) {
	movable(t, func(t *testing.T, st *store.Store, move func(time.Duration)) {
		ctx := t.Context()
		account := storetest.Account(t, st, "ann@example.com")
		postMail(t, st, account.ID, "sent")
		postMail(t, st, account.ID, "given up")
		for _, m := range dueMails(t, st, 2) {
			if err := st.MailFailed(ctx, m.Once, "greylisted", 10*time.Minute); err != nil {
				t.Fatal(err)
			}
		}
		dueMails(t, st, 0)
		move(10 * time.Minute)
		for _, m := range dueMails(t, st, 2) {
			if m.Attempts != 2 || m.Email != "ann@example.com" {
				t.Errorf("%+v", m)
			}
			var err error
			if m.Once == "sent" {
				err = st.MailSent(ctx, m.Once)
			} else {
				err = st.MailFailed(ctx, m.Once, "no such mailbox", 0)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		move(time.Hour)
		dueMails(t, st, 0)
		list, err := st.MailsNewest(ctx, store.MailFilter{AccountID: account.ID})
		if err != nil || len(list) != 2 {
			t.Fatal(list, err)
		}
		for _, m := range list {
			sent := m.Once == "sent"
			if sent != (m.SentAt != nil) || sent == (m.FailedAt != nil) || sent == (m.LastError != "") {
				t.Errorf("%+v", m)
			}
		}
		if q, err := st.OutboxState(ctx); err != nil || q.Waiting != 0 || q.Dead != 1 {
			t.Errorf("%d wait, %d were given up: %v", q.Waiting, q.Dead, err)
		}
	})
}

// Mails that were given up are due again when somebody asks for that, all or one of them; others are not touched.
func TestMailsRetried(t *testing.T) {
	movable(t, func(t *testing.T, st *store.Store, move func(time.Duration)) {
		ctx := t.Context()
		account := storetest.Account(t, st, "ann@example.com")
		for _, name := range []string{"first", "second", "third", "sent", "waits"} {
			postMail(t, st, account.ID, name)
		}
		ids := map[string]int64{}
		for _, m := range dueMails(t, st, 5) {
			ids[m.Once] = m.ID
			var err error
			switch m.Once {
			case "sent":
				err = st.MailSent(ctx, m.Once)
			case "waits":
				err = st.MailFailed(ctx, m.Once, "greylisted", 3*time.Hour)
			default:
				err = st.MailFailed(ctx, m.Once, "no route", 0)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		move(time.Hour)
		retried := func(id int64, want ...string) {
			t.Helper()
			list, err := st.RetryMails(ctx, id)
			if err != nil || len(list) != len(want) {
				t.Fatalf("%+v %v", list, err)
			}
			for i, m := range list {
				if m.Once != want[i] || m.FailedAt != nil || m.Attempts != 0 || m.LastError != "no route" {
					t.Errorf("%+v", m)
				}
			}
			for _, m := range dueMails(t, st, len(want)) {
				if m.Attempts != 1 {
					t.Errorf("attempt %d", m.Attempts)
				}
			}
		}
		retried(ids["sent"])
		retried(ids["waits"])
		retried(ids["second"], "second")
		if dead, err := st.MailsNewest(ctx, store.MailFilter{Dead: true, AccountID: account.ID}); err != nil || len(dead) != 2 || dead[0].Once != "third" {
			t.Errorf("%+v %v", dead, err)
		}
		retried(0, "first", "third")
		retried(0)
		if newest, err := st.MailsNewest(ctx, store.MailFilter{Limit: 2}); err != nil || len(newest) != 2 || newest[0].Once != "waits" {
			t.Errorf("%+v %v", newest, err)
		}
		if other, err := st.MailsNewest(ctx, store.MailFilter{AccountID: "acc_none"}); err != nil || len(other) != 0 {
			t.Errorf("%+v %v", other, err)
		}
	})
}

// However many mails were given up, all of them are due again: a database takes no list of so many names.
func TestManyMailsRetried(t *testing.T) {
	t.Parallel()
	storetest.EachURL(t, func(t *testing.T, url string) {
		st := storetest.OpenURL(t, url, store.Options{})
		account := storetest.Account(t, st, "ann@example.com")
		postMail(t, st, account.ID, "mail")
		if err := st.MailFailed(t.Context(), dueMails(t, st, 1)[0].Once, "no route", 0); err != nil {
			t.Fatal(err)
		}
		const more = 70_000
		storetest.Exec(t, url, `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 70000)
			INSERT INTO mails (account_id, kind, data, once, created_at, next_at, attempts, last_error, failed_at)
			SELECT account_id, kind, data, once || i, created_at, next_at, attempts, last_error, failed_at FROM mails, n`)
		if list, err := st.RetryMails(t.Context(), 0); err != nil || len(list) != more+1 {
			t.Errorf("%d mails, %v", len(list), err)
		}
	})
}

// A mail written by a node whose clock is ahead is due at once.
func TestMailOfAClockThatIsAhead(t *testing.T) {
	t.Parallel()
	storetest.EachURL(t, func(t *testing.T, url string) {
		ahead := storetest.OpenURL(t, url, store.Options{Now: func() time.Time { return time.Now().Add(10 * time.Minute) }})
		account := storetest.Account(t, ahead, "ann@example.com")
		postMail(t, ahead, account.ID, "hello")
		dueMails(t, storetest.OpenURL(t, url, store.Options{}), 1)
	})
}

// A mail to an account that was closed meanwhile has no address, and does not block other mails.
func TestMailOfAClosedAccount(t *testing.T) {
	twoNodes(t, func(t *testing.T, a, b *store.Store) {
		closed := storetest.Account(t, a, "eve@example.com")
		account := storetest.Account(t, a, "ann@example.com")
		if _, err := a.DeleteAccount(t.Context(), closed.ID); err != nil {
			t.Fatal(err)
		}
		postMail(t, a, closed.ID, "to nobody")
		postMail(t, a, account.ID, "to somebody")
		addresses := map[string]string{}
		for _, m := range dueMails(t, b, 2) {
			addresses[m.Once] = m.Email
		}
		if addresses["to nobody"] != "" || addresses["to somebody"] != "ann@example.com" {
			t.Errorf("%v", addresses)
		}
	})
}

// A mail's account is closed while the mail is being sent. On SQLite the next mail gets its id, and is sent all the same.
func TestMailAfterOneOfAClosedAccount(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		ctx := t.Context()
		for _, settle := range []func(m *store.DueMail) error{
			func(m *store.DueMail) error { return st.MailSent(ctx, m.Once) },
			func(m *store.DueMail) error { return st.MailFailed(ctx, m.Once, "no such mailbox", 0) },
			func(m *store.DueMail) error { return st.DropMail(ctx, m.Once) },
		} {
			closed, other := storetest.Account(t, st, "eve@example.com"), storetest.Account(t, st, "ann@example.com")
			postMail(t, st, closed.ID, closed.ID)
			sending := dueMails(t, st, 1)
			if _, err := st.DeleteAccount(ctx, closed.ID); err != nil {
				t.Fatal(err)
			}
			postMail(t, st, other.ID, other.ID)
			if err := settle(&sending[0]); err != nil {
				t.Fatal(err)
			}
			if next := dueMails(t, st, 1); next[0].AccountID != other.ID {
				t.Errorf("%+v", next)
			}
			if _, err := st.DeleteAccount(ctx, other.ID); err != nil {
				t.Fatal(err)
			}
		}
	})
}
