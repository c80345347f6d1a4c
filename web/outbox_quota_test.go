package web_test

import (
	"strings"
	"testing"
	"time"

	"lottery/models"
	"lottery/models/store"
	"lottery/models/store/storetest"
	"lottery/web"
	"lottery/web/mail"
)

// tomorrow returns a clock that shows that time of tomorrow, in UTC: no test of a day begins just before its end.
func tomorrow(sinceMidnight time.Duration) *clock {
	c := &clock{}
	c.move(time.Until(time.Now().UTC().Truncate(24 * time.Hour).Add(24*time.Hour + sinceMidnight)))
	return c
}

// warned queues the mail about an account that has used that percentage of a limit today.
func warned(t *testing.T, st *store.Store, c *clock, account string, percent int, limit int64) models.QuotaUsed {
	t.Helper()
	used := models.QuotaUsed{Day: models.DateOf(c.now()), Percent: percent, Limit: limit}
	if first, err := st.WarnUsage(t.Context(), account, used, true); err != nil || !first {
		t.Fatal(first, err)
	}
	return used
}

// The mail about a daily limit says what is used, what that means, and how to come by more.
func TestQuotaMail(t *testing.T) {
	t.Parallel()
	const upgrade, contact = "Upgrade to Pro:\nhttps://draws.example/dashboard/plan", "contact support (help@example.com)"
	for name, mailed := range map[string]struct {
		percent int
		limit   int64
		change  func(st *store.Store, o *web.Outbox, account string) error
		says    []string
		without string
	}{
		"much of Free": {80, 100, nil, []string{
			"You have used 80% of your 100 requests for ", "Once all of them are used, further requests get a 429 until midnight UTC", upgrade, "which has 10,000, effective immediately",
			"https://draws.example/docs/limits#use-fewer-requests",
		}, contact},
		"all of Free": {100, 100, nil, []string{
			"You have used all 100 requests for ", "over all keys of your Lottery Draws API account. Further requests get a 429 until midnight UTC", upgrade,
		}, "Once all"},
		"where Pro is not sold": {100, 100, func(_ *store.Store, o *web.Outbox, _ string) error {
			o.Sold = false
			return nil
		}, []string{contact, "Your usage:\nhttps://draws.example/dashboard\n"}, upgrade},
		"a limit of its own": {80, 1, func(st *store.Store, _ *web.Outbox, account string) error {
			_, err := st.OverrideLimit(t.Context(), account, new(1))
			return err
		}, []string{"You have used 80% of your 1 request for ", contact}, upgrade},
		"Pro": {80, 10_000, func(st *store.Store, _ *web.Outbox, account string) error {
			_, err := st.GrantPlan(t.Context(), account, new(models.PlanPro))
			return err
		}, []string{"80% of your 10,000 requests", contact}, "Upgrade"},
		"a subscription that is not over": {100, 100, func(st *store.Store, _ *web.Outbox, account string) error {
			_, err := storeBilling(t, st, subscribed(account, models.SubscriptionUnpaid, nil))
			return err
		}, []string{contact}, "Upgrade"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := tomorrow(12 * time.Hour)
			st := storetest.OpenURL(t, storetest.URL(t), store.Options{Now: c.now, Skew: c.skew})
			account := storetest.Account(t, st, "ada@example.com").ID
			box := &mail.Mailbox{}
			outbox := newOutbox(st, box)
			outbox.Sold = true
			if mailed.change != nil {
				if err := mailed.change(st, outbox, account); err != nil {
					t.Fatal(err)
				}
			}
			if mailed.limit > 100 { // upgraded today: what was said of Free does not count
				warned(t, st, c, account, 100, 100)
				dropAll(t, st)
			}
			used := warned(t, st, c, account, mailed.percent, mailed.limit)
			if err := outbox.Send(t.Context()); err != nil {
				t.Fatal(err)
			}
			all := box.All()
			if len(all) != 1 || all[0].To != "ada@example.com" {
				t.Fatalf("%+v", all)
			}
			text := all[0].Subject + "\n" + all[0].Text()
			for _, want := range append(mailed.says, used.Day.Time().Format("January 2, 2006")+" (UTC)") {
				if !strings.Contains(text, want) {
					t.Errorf("the mail lacks %q:\n%s", want, text)
				}
			}
			if strings.Contains(text, mailed.without) {
				t.Errorf("the mail says %q:\n%s", mailed.without, text)
			}
		})
	}
}

// dropAll removes all mails from the outbox.
func dropAll(t *testing.T, st *store.Store) {
	t.Helper()
	mails, err := st.MailsNewest(t.Context(), store.MailFilter{})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range mails {
		if err := st.DropMail(t.Context(), m.Once); err != nil {
			t.Fatal(err)
		}
	}
}

// storeBilling stores what a sync found.
func storeBilling(t *testing.T, st *store.Store, found store.BillingChange) (store.Billed, error) {
	t.Helper()
	l, ok, err := st.TryLease(t.Context(), "billing", time.Minute)
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	return st.StoreBilling(t.Context(), l, found)
}

// subscribed is what a sync found of an account with a subscription in that state, and the plan that it gives; nil = none.
func subscribed(account string, status string, plan *models.Plan) store.BillingChange {
	return store.BillingChange{Plan: plan, Actor: "stripe", Billing: models.BillingAccount{
		AccountID: account, CustomerID: new("cus_1"), SubscriptionID: new("sub_1"), Status: &status,
	}}
}

// A mail about a daily limit is not sent if, while it waited, its day ended, the rest was used up as well, the limit
// changed, or the account was suspended.
func TestQuotaMailOvertaken(t *testing.T) {
	t.Parallel()
	for name, overtaking := range map[string]struct {
		happens func(st *store.Store, c *clock, account string) error
		left    int // mails that are sent all the same
	}{
		"nothing happened": {func(*store.Store, *clock, string) error { return nil }, 1},
		"the day is over": {func(_ *store.Store, c *clock, _ string) error {
			c.move(24 * time.Hour)
			return nil
		}, 0},
		"all is used": {func(st *store.Store, c *clock, account string) error {
			warned(t, st, c, account, 100, 100)
			return nil
		}, 1},
		"upgraded": {func(st *store.Store, _ *clock, account string) error {
			_, err := st.GrantPlan(t.Context(), account, new(models.PlanPro))
			return err
		}, 0},
		"suspended": {func(st *store.Store, _ *clock, account string) error {
			_, err := st.SetAccountStatus(t.Context(), account, models.AccountSuspended)
			return err
		}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := tomorrow(12 * time.Hour)
			st := storetest.OpenURL(t, storetest.URL(t), store.Options{Now: c.now, Skew: c.skew})
			account := storetest.Account(t, st, "ada@example.com").ID
			warned(t, st, c, account, 80, 100)
			if err := overtaking.happens(st, c, account); err != nil {
				t.Fatal(err)
			}
			box := &mail.Mailbox{}
			if err := newOutbox(st, box).Send(t.Context()); err != nil {
				t.Fatal(err)
			}
			all := box.All()
			if len(all) != overtaking.left {
				t.Fatalf("%d mails are sent, want %d: %+v", len(all), overtaking.left, all)
			}
			if name == "all is used" && !strings.Contains(all[0].Subject, "all 100 requests") {
				t.Error(all[0].Subject)
			}
			if q, err := st.OutboxState(t.Context()); err != nil || q.Waiting != 0 || q.Dead != 0 {
				t.Errorf("%d mails wait, %d are given up: %v", q.Waiting, q.Dead, err)
			}
		})
	}
}

// A mail about a daily limit that cannot be sent is forgotten: nobody has to look at it, and tomorrow it is void.
func TestQuotaMailThatCannotBeSent(t *testing.T) {
	t.Parallel()
	c := tomorrow(time.Hour)
	st := storetest.OpenURL(t, storetest.URL(t), store.Options{Now: c.now, Skew: c.skew})
	warned(t, st, c, storetest.Account(t, st, "ada@example.com").ID, 100, 100)
	outbox := newOutbox(st, down{})
	const attempts = 10
	for attempt, wait := 1, time.Minute; attempt <= attempts; attempt, wait = attempt+1, wait*2 {
		if err := outbox.Send(t.Context()); err != nil {
			t.Fatal(err)
		}
		mails, err := st.MailsNewest(t.Context(), store.MailFilter{})
		switch {
		case err != nil:
			t.Fatal(err)
		case attempt == attempts && len(mails) > 0:
			t.Errorf("kept: %+v", mails[0])
		case attempt < attempts && (len(mails) != 1 || mails[0].Attempts != attempt):
			t.Fatalf("after attempt %d: %+v", attempt, mails)
		}
		c.move(wait + time.Second)
	}
}
