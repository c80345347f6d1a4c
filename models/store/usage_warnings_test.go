package store_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"testing"

	"lottery/models"
	"lottery/models/store"
	"lottery/models/store/storetest"
)

// The mails about a daily limit are those that tell its owner something new: none while the account uses as much again
// within a week, unless the limit is another one.
func TestUsageMails(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		account := storetest.Account(t, st, "ada@example.com").ID
		for i, step := range []struct {
			after   models.Date // days since the first
			percent int
			limit   int64
			mailed  bool
			posted  bool
		}{
			{0, 80, 100, true, true},
			{0, 80, 100, true, false}, // another node
			{0, 100, 100, true, true},
			{1, 80, 100, true, false},
			{1, 100, 100, true, false},
			{8, 80, 100, true, false}, // seven days after the last
			{8, 100, 100, true, false},
			{16, 80, 100, true, true},   // after seven days without
			{17, 100, 100, true, true},  // no day of more than 80 percent since the eighth
			{18, 80, 100, true, false},  // less than what was just told
			{19, 80, 10000, true, true}, // after an upgrade
			{20, 80, 100, true, false},
			{40, 80, 100, false, false}, // without a mail server
			{41, 100, 100, true, true},
			{41, 80, 10000, true, true}, // upgraded that day
			{41, 100, 100, true, false}, // a node that has yet to learn of it
			{41, 80, 10000, true, false},
			{41, 100, 10000, true, true},
			{41, 100, 100, true, false}, // downgraded, which leaves as little
		} {
			used := models.QuotaUsed{Day: march + step.after, Percent: step.percent, Limit: step.limit}
			before, err := st.MailsNewest(t.Context(), store.MailFilter{AccountID: account})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := st.WarnUsage(t.Context(), account, used, step.mailed); err != nil {
				t.Fatal(err)
			}
			mails, err := st.MailsNewest(t.Context(), store.MailFilter{AccountID: account})
			if err != nil {
				t.Fatal(err)
			}
			if posted := len(mails) - len(before); posted != 0 && !step.posted || posted != 1 && step.posted {
				t.Errorf("step %d, %+v: %d mails posted, want %v", i, used, posted, step.posted)
			}
			if !step.posted {
				continue
			}
			var told models.QuotaUsed
			if err := json.Unmarshal([]byte(mails[0].Data), &told); err != nil || told != used || mails[0].Kind != models.MailQuotaUsed {
				t.Errorf("step %d: mail %s of %s, %v", i, mails[0].Kind, mails[0].Data, err)
			}
		}
		if _, err := st.WarnUsage(t.Context(), storetest.Account(t, st, "grace@example.com").ID, models.QuotaUsed{Day: march + 41, Percent: 100, Limit: 100}, true); err != nil {
			t.Fatal(err)
		}
		if mails, err := st.MailsNewest(t.Context(), store.MailFilter{}); err != nil || len(mails) != 9 {
			t.Errorf("%d mails with those of another account: %v", len(mails), err)
		}
	})
}

// Several nodes that see the same usage post one mail, and none that sees it later posts another after that was dropped.
func TestUsageMailOnce(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		account := storetest.Account(t, st, "ada@example.com").ID
		var nodes sync.WaitGroup
		for range 8 {
			nodes.Go(func() {
				for _, percent := range []int{80, 100} {
					if _, err := st.WarnUsage(t.Context(), account, models.QuotaUsed{Day: march, Percent: percent, Limit: 100}, true); err != nil {
						t.Error(err)
					}
				}
			})
		}
		nodes.Wait()
		mails, err := st.MailsNewest(t.Context(), store.MailFilter{AccountID: account})
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, m := range mails {
			names = append(names, m.Once)
		}
		slices.Sort(names)
		if want := []string{fmt.Sprintf("quota_used:%s:%s:100:100", account, march), fmt.Sprintf("quota_used:%s:%s:80:100", account, march)}; !slices.Equal(names, want) {
			t.Errorf("posted %q, want %q", names, want)
		}
		for _, name := range names {
			if err := st.DropMail(t.Context(), name); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := st.WarnUsage(t.Context(), account, models.QuotaUsed{Day: march, Percent: 100, Limit: 100}, true); err != nil {
			t.Fatal(err)
		}
		if mails, err := st.MailsNewest(t.Context(), store.MailFilter{AccountID: account}); err != nil || len(mails) > 0 {
			t.Errorf("posted again: %+v, %v", mails, err)
		}
	})
}
