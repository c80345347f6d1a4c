package store_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"lottery/models"
	"lottery/models/secret"
	"lottery/models/store"
	"lottery/models/store/storetest"
)

// crowd is somebody who does everything, to few things, at random.
type crowd struct {
	*rand.Rand

	ctx  context.Context //nolint:containedctx // of one test
	st   *store.Store
	tell func(error)
}

func (c *crowd) address() string { return fmt.Sprintf("a%d@example.com", c.IntN(3)) }

// account returns the id of one that may be closed meanwhile.
func (c *crowd) account() string {
	list, err := c.st.Accounts(c.ctx, store.AccountFilter{})
	if c.tell(err); len(list) == 0 {
		return "acc_none"
	}
	return list[c.IntN(len(list))].ID
}

func (c *crowd) key() string {
	list, err := c.st.Keys(c.ctx, "")
	if c.tell(err); len(list) == 0 {
		return "key_none"
	}
	return list[max(0, len(list)-1-c.IntN(4))].ID
}

func (c *crowd) slot() models.Slot {
	return models.Slot{GameID: "ny-numbers", Date: models.NewDate(2024, 1, 1+c.IntN(2)), Tod: models.Midday, Sequence: 1}
}

func (c *crowd) link(in store.NewLink) [32]byte {
	in.Hash, in.PerHour = secret.Hash(secret.NewID("lnk_")), 1000
	c.tell(c.st.CreateLink(c.ctx, in))
	return in.Hash
}

func (c *crowd) signIn() error {
	in := store.SignIn{
		Link: c.link(store.NewLink{Purpose: models.LinkSignIn, Email: c.address()}), Session: secret.Hash(secret.NewID("ses_")),
		NewID: store.NewAccountID(), FirstKey: true,
	}
	for {
		l, err := c.st.Link(c.ctx, in.Link, models.LinkSignIn)
		if err != nil {
			return err
		}
		departed, err := c.st.Departures(c.ctx, l.EmailKey)
		if err != nil {
			return err
		}
		in.Carried = len(departed)
		if _, err := c.st.SignIn(c.ctx, models.DefaultPlans(), in); !errors.Is(err, store.ErrAccountChanged) {
			if models.ErrorCode(err) == models.CodeConflict {
				err = fmt.Errorf("a good link does not sign in: %w", errors.New(err.Error()))
			}
			return err
		}
	}
}

func (c *crowd) act() (err error) {
	switch c.IntN(13) {
	case 0:
		err = c.signIn()
	case 1:
		_, err = c.st.CreateAccount(c.ctx, store.NewAccount{Email: c.address()})
	case 2:
		_, _, err = c.st.ChangeEmail(c.ctx, store.EmailChange{
			Link: c.link(store.NewLink{Purpose: models.LinkChangeEmail, Email: c.address(), AccountID: c.account()}), Claim: time.Minute,
		})
	case 3:
		_, err = c.st.CorrectAccount(c.ctx, c.account(), store.AccountCorrection{Email: new(c.address())})
	case 4:
		_, err = c.st.DeleteAccount(c.ctx, c.account())
	case 5:
		_, err = c.st.CreateKey(c.ctx, models.DefaultPlans(), store.NewKey{Account: c.address(), Create: true})
	case 6:
		_, _, err = c.st.RotateKey(c.ctx, c.key(), time.Duration(c.IntN(2))*time.Hour)
	case 7:
		_, err = c.st.RevokeKey(c.ctx, c.key())
	case 8:
		_, err = c.st.SetAccountStatus(c.ctx, c.account(), []models.AccountStatus{models.AccountActive, models.AccountSuspended}[c.IntN(2)])
	case 9:
		err = c.st.TouchKeys(c.ctx, []string{c.key(), c.key(), c.key()}, time.Now().Add(time.Duration(c.IntN(1000))*time.Minute))
	case 10:
		_, err = c.st.SetDraw(c.ctx, store.OperatorDraw{Slot: c.slot(), Number: fmt.Sprintf("%03d", c.IntN(3)), Reason: "said so"})
	case 11:
		_, err = c.st.UnsetDraw(c.ctx, c.slot(), "said so")
	case 12:
		_, err = c.st.ReleaseDraw(c.ctx, c.slot(), "said so")
	}
	return err
}

// Three nodes and an operator do everything at once to few accounts, keys and draws. Nothing but refusals is heard, and
// nothing is left half done.
func TestEverythingAtOnce(t *testing.T) {
	t.Parallel()
	url := storetest.NewPostgres(t)
	storetest.OpenURL(t, url, store.Options{})
	seed := rand.Uint64()
	var all sync.WaitGroup
	for node := range uint64(4) {
		st := storetest.OpenURL(t, url, store.Options{})
		all.Go(func() {
			c := &crowd{rand.New(rand.NewPCG(seed, node)), context.WithoutCancel(t.Context()), st, func(err error) {
				switch models.ErrorCode(err) {
				case models.CodeConflict, models.CodeNotFound:
				default:
					if err != nil {
						t.Errorf("seed %d: %v", seed, err)
					}
				}
			}}
			for range 150 {
				c.tell(c.act())
			}
		})
	}
	all.Wait()
	db := storetest.SQL(t, url)
	for what, wrong := range map[string]string{
		"accounts that are half closed":   "SELECT id FROM accounts WHERE (status = 'closed') <> (deleted_at IS NOT NULL) OR (status = 'closed') <> (email_key IS NULL)",
		"keys of closed accounts":         "SELECT k.id FROM api_keys k JOIN accounts a ON a.id = account_id WHERE status = 'closed' AND revoked_at IS NULL",
		"sessions of closed accounts":     "SELECT s.id FROM sessions s JOIN accounts a ON a.id = account_id WHERE status = 'closed'",
		"closed accounts to be forgotten": "SELECT id FROM accounts LEFT JOIN departures ON account_id = id WHERE status = 'closed' AND account_id IS NULL",
		"accounts with too many keys":     "SELECT account_id FROM api_keys WHERE revoked_at IS NULL AND grace_until IS NULL GROUP BY account_id HAVING count(*) > 2",
		"gaps in the numbers of changes":  "SELECT number FROM account_version WHERE number <> (SELECT count(*) FROM account_changes) OR number <> (SELECT max(number) FROM account_changes)",
		"draws without what they said":    "SELECT game_id FROM draws d WHERE revision - 1 <> (SELECT count(*) FROM draw_revisions r WHERE (r.game_id, r.date, r.tod) = (d.game_id, d.date, d.tod))",
	} {
		var n int
		if err := db.QueryRowContext(t.Context(), "SELECT count(*) FROM ("+wrong+") AS wrong").Scan(&n); err != nil || n > 0 {
			t.Errorf("seed %d: %d %s, %v", seed, n, what, err)
		}
	}
}
