package store_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"lottery/models"
	"lottery/models/store"
)

// A customer gets one mail for each key that is about to expire, and none for other keys.
func TestMailExpiringKeys(t *testing.T) {
	movable(t, func(t *testing.T, st *store.Store, move func(time.Duration)) {
		ctx := t.Context()
		plans := models.DefaultPlans()
		account, err := st.CreateAccount(ctx, store.NewAccount{Email: "ann@example.com", Grant: new(models.PlanPro)})
		if err != nil {
			t.Fatal(err)
		}
		begin := time.Now().UTC().Truncate(time.Microsecond)
		key := func(account, name string, days int) store.Key {
			t.Helper()
			in := store.NewKey{Account: account, Name: name, Create: true}
			if days > 0 {
				at := begin.Add(time.Duration(days) * aDay)
				in.ExpiresAt = &at
			}
			k, err := st.CreateKey(ctx, plans, in)
			if err != nil {
				t.Fatal(err)
			}
			return k
		}
		tell := func(want int) {
			t.Helper()
			if n, err := st.MailExpiringKeys(ctx, 7*aDay); err != nil || n != want {
				t.Errorf("%d mails written, want %d (%v)", n, want, err)
			}
		}
		told := key(account.ID, "laptop", 30)
		key(account.ID, "for ever", 0)
		key(account.ID, "later", 40)
		key(account.ID, "short-lived", 5)
		revoked, rotated := key(account.ID, "revoked", 30), key(account.ID, "rotated", 30)
		if _, err := st.RevokeKey(ctx, revoked.ID); err != nil {
			t.Fatal(err)
		}
		suspended := key("bob@example.com", "", 30)
		if _, err := st.SetAccountStatus(ctx, suspended.AccountID, models.AccountSuspended); err != nil {
			t.Fatal(err)
		}
		closed := key("eve@example.com", "", 30)
		if _, err := st.DeleteAccount(ctx, closed.AccountID); err != nil {
			t.Fatal(err)
		}
		key("zoe@example.com", "", 60)
		tell(0)
		move(22 * aDay)
		tell(0)
		move(2 * aDay)
		if _, _, err := st.RotateKey(ctx, rotated.ID, 30*aDay); err != nil { // its successor, with the same expiry, is new
			t.Fatal(err)
		}
		tell(1)
		tell(0)
		mails, err := st.MailsNewest(ctx, store.MailFilter{})
		if err != nil || len(mails) != 1 || mails[0].AccountID != account.ID || mails[0].Kind != models.MailKeyExpires {
			t.Fatalf("%+v %v", mails, err)
		}
		var data models.KeyExpires
		if err := json.Unmarshal([]byte(mails[0].Data), &data); err != nil || data.Name != "laptop" || data.Prefix != told.Prefix || !data.ExpiresAt.Equal(*told.ExpiresAt) {
			t.Errorf("%+v %v", data, err)
		}
		move(7 * aDay)
		tell(0) // it has expired; "later" has nine days left
		move(3 * aDay)
		tell(1)
		move(27 * aDay)
		tell(0) // nobody looked before zoe's had expired
	})
}

// If there are many keys, all of them are handled.
func TestMailManyExpiringKeys(t *testing.T) {
	movable(t, func(t *testing.T, st *store.Store, move func(time.Duration)) {
		plans := models.DefaultPlans()
		at := time.Now().Add(30 * aDay)
		const most = 450 // three pages
		for i := range most {
			in := store.NewKey{Account: fmt.Sprintf("p%d@example.com", i), Create: true, ExpiresAt: &at}
			if _, err := st.CreateKey(t.Context(), plans, in); err != nil {
				t.Fatal(err)
			}
		}
		move(25 * aDay)
		if n, err := st.MailExpiringKeys(t.Context(), 7*aDay); err != nil || n != most {
			t.Errorf("%d mails, %v", n, err)
		}
	})
}
