package store_test

import (
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"lottery/models"
	"lottery/models/secret"
	"lottery/models/store"
	"lottery/models/store/storetest"
)

// beside runs test with two nodes on one database for each way in which the clock of one of them may be wrong. move
// sets all clocks forward.
func beside(t *testing.T, test func(t *testing.T, right, wrong *store.Store, move func(time.Duration))) {
	t.Helper()
	t.Parallel()
	for _, ahead := range []time.Duration{3 * aDay, time.Hour, -time.Hour, -3 * aDay} {
		t.Run(ahead.String(), func(t *testing.T) {
			t.Parallel()
			url := storetest.NewPostgres(t) // with SQLite there is only one machine
			var moved atomic.Int64
			node := func(ahead time.Duration) *store.Store {
				return storetest.OpenURL(t, url, store.Options{
					Now:  func() time.Time { return time.Now().Add(time.Duration(moved.Load()) + ahead) },
					Skew: func() time.Duration { return time.Duration(moved.Load()) },
				})
			}
			test(t, node(0), node(ahead), func(d time.Duration) { moved.Add(int64(d)) })
		})
	}
}

// Whoever closes an account on one node and signs up again on another is found, whatever the clock of either says.
func TestDeparturesBetweenClocks(t *testing.T) {
	beside(t, func(t *testing.T, right, wrong *store.Store, _ func(time.Duration)) {
		for _, c := range []struct {
			email          string
			closes, signUp *store.Store
		}{{"ann@example.com", right, wrong}, {"bob@example.com", wrong, right}} {
			a, err := c.closes.CreateAccount(t.Context(), store.NewAccount{Email: c.email})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := c.closes.DeleteAccount(t.Context(), a.ID); err != nil {
				t.Fatal(err)
			}
			if list, err := c.signUp.Departures(t.Context(), c.email); err != nil || len(list) != 1 || list[0].AccountID != a.ID {
				t.Errorf("%s: %+v, %v; want %s", c.email, list, err, a.ID)
			}
		}
	})
}

// A link works on every node, whatever the clock of the one that made it says.
func TestLinksBetweenClocks(t *testing.T) {
	beside(t, func(t *testing.T, right, wrong *store.Store, _ func(time.Duration)) {
		for name, c := range map[string]struct{ makes, spends *store.Store }{"ann": {right, wrong}, "bob": {wrong, right}} {
			link := createLink(t, c.makes, store.NewLink{Purpose: models.LinkSignIn, Email: name + "@example.com"})
			if _, err := c.spends.Link(t.Context(), link, models.LinkSignIn); err != nil {
				t.Errorf("%s's link is looked at: %v", name, err)
			}
			in := store.SignIn{Link: link, Session: secret.Hash(name), NewID: store.NewAccountID()}
			if _, err := c.spends.SignIn(t.Context(), models.DefaultPlans(), in); err != nil {
				t.Errorf("%s signs in: %v", name, err)
			}
		}
	})
}

// Links made while the clock was ahead do not work once it is set back, and keep nobody from another.
func TestLinksAfterTheClockIsSetBack(t *testing.T) {
	movable(t, func(t *testing.T, st *store.Store, move func(time.Duration)) {
		ctx := t.Context()
		for _, ahead := range []time.Duration{time.Hour, 2 * aDay, 3000 * aDay} {
			email := ahead.String() + "@example.com"
			ask := func() ([32]byte, error) {
				link := store.NewLink{Hash: secret.Hash(secret.NewID("lnk_")), Purpose: models.LinkSignIn, Email: email, PerHour: 5}
				return link.Hash, st.CreateLink(ctx, link)
			}
			signIn := func(link [32]byte) error {
				_, err := st.SignIn(ctx, models.DefaultPlans(), store.SignIn{Link: link, Session: secret.Hash(secret.NewID("ses_")), NewID: store.NewAccountID()})
				return err
			}
			move(ahead)
			var early [32]byte
			for range 5 {
				var err error
				if early, err = ask(); err != nil {
					t.Fatal(err)
				}
			}
			move(-ahead)
			var links [5][32]byte
			for i := range links {
				var err error
				if links[i], err = ask(); err != nil {
					t.Fatalf("%s: link %d: %v", ahead, i+1, err)
				}
			}
			if _, err := ask(); !errors.Is(err, store.ErrTooManyLinks) {
				t.Errorf("%s: a sixth link: %v", ahead, err)
			}
			if _, err := st.Link(ctx, early, models.LinkSignIn); models.ErrorCode(err) != models.CodeNotFound {
				t.Errorf("%s: a link that was made too early is looked at: %v", ahead, err)
			}
			if err := signIn(early); models.ErrorCode(err) != models.CodeNotFound {
				t.Errorf("%s: somebody signs in with a link that was made too early: %v", ahead, err)
			}
			for i, link := range links {
				if err := signIn(link); err != nil {
					t.Errorf("%s: link %d: %v", ahead, i+1, err)
				}
			}
			if _, err := ask(); err != nil { // those that were made too early only seem to work
				t.Errorf("%s: a link where none works: %v", ahead, err)
			}
		}
	})
}

// A rotated key lives for its grace period, whatever the clock of the node or command that rotated it says.
func TestGraceBetweenClocks(t *testing.T) {
	beside(t, func(t *testing.T, right, wrong *store.Store, _ func(time.Duration)) {
		ctx := t.Context()
		key, err := right.CreateKey(ctx, models.DefaultPlans(), store.NewKey{Account: "ann@example.com", Create: true})
		if err != nil {
			t.Fatal(err)
		}
		begun := time.Now()
		last, _, err := wrong.RotateKey(ctx, key.ID, aDay)
		if err != nil {
			t.Fatal(err)
		}
		got, err := right.KeyOf(ctx, key.AccountID, key.ID)
		if err != nil || got.GraceUntil == nil {
			t.Fatalf("%+v, %v", got, err)
		}
		if until := got.GraceUntil.Sub(begun); until < aDay-30*time.Minute || until > aDay+30*time.Minute {
			t.Errorf("its grace period ends %s after it was rotated, want %s", until, aDay)
		}
		for range 49 {
			if last, _, err = wrong.RotateKey(ctx, last.ID, aDay); err != nil {
				t.Fatal(err)
			}
		}
		if _, _, err := wrong.RotateKey(ctx, last.ID, aDay); models.ErrorCode(err) != models.CodeConflict {
			t.Errorf("a 51st rotated key lives on: %v", err)
		}
	})
}

// A session that was used while the clock was ahead lives no longer than others, once it is used again.
func TestSessionAfterTheClockIsSetBack(t *testing.T) {
	movable(t, func(t *testing.T, st *store.Store, move func(time.Duration)) {
		move(3000 * aDay)
		signIn(t, st, "ann@example.com", "ann", "")
		move(-3000 * aDay)
		if !lives(t, st, "ann") {
			t.Error("the session ended")
		}
		move(models.SessionIdle + time.Minute)
		if lives(t, st, "ann") {
			t.Error("the session lives on, unused")
		}
	})
}

// Customers hear in time of a key that is about to expire, whatever the clock of the node that tells them says.
func TestMailExpiringKeysBetweenClocks(t *testing.T) {
	beside(t, func(t *testing.T, right, wrong *store.Store, move func(time.Duration)) {
		ctx, at := t.Context(), time.Now().Add(9*aDay).UTC().Truncate(time.Microsecond)
		if _, err := right.CreateKey(ctx, models.DefaultPlans(), store.NewKey{Account: "ann@example.com", ExpiresAt: &at, Create: true}); err != nil {
			t.Fatal(err)
		}
		post := func(want int, when string) {
			t.Helper()
			if n, err := wrong.MailExpiringKeys(ctx, aDay); err != nil || n != want {
				t.Errorf("%s: %d mails (%v), want %d", when, n, err, want)
			}
		}
		move(8*aDay - 30*time.Minute)
		post(0, "half an hour too early")
		move(time.Hour)
		post(1, "in time")
		mails, err := right.MailsNewest(ctx, store.MailFilter{})
		if err != nil || len(mails) != 1 {
			t.Fatalf("%+v %v", mails, err)
		}
		if why, err := wrong.ExpiryOvertaken(ctx, &mails[0]); err != nil || why != "" {
			t.Errorf("it is not sent: %s (%v)", why, err)
		}
	})
}

// What is held about an account can be exported after the clock was at a time that no date of the product reaches.
func TestRecordAfterTheClockIsSetBack(t *testing.T) {
	movable(t, func(t *testing.T, st *store.Store, move func(time.Duration)) {
		a, err := st.CreateAccount(t.Context(), store.NewAccount{Email: "ann@example.com"})
		if err != nil {
			t.Fatal(err)
		}
		today := models.DateOf(time.Now().UTC())
		for _, day := range []models.Date{models.NewDate(2106, time.February, 7), today} {
			ahead := time.Until(day.Time())
			move(ahead)
			if err := st.AddUsage(t.Context(), []models.UsageDay{{AccountID: a.ID, Day: day, Endpoint: "/v1/games", Class: 2, Requests: 7}}); err != nil {
				t.Fatal(err)
			}
			if _, err := st.WarnUsage(t.Context(), a.ID, models.QuotaUsed{Day: day, Percent: 80}, false); err != nil {
				t.Fatal(err)
			}
			move(-ahead)
		}
		r, err := st.Record(t.Context(), a.ID)
		if err != nil || len(r.Usage) != 1 || r.Usage[0].Day != today || len(r.Warnings) != 1 || r.Warnings[0].Day != today {
			t.Errorf("%+v %+v, %v; want those of %s", r.Usage, r.Warnings, err, today)
		}
	})
}
