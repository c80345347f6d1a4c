package store

import (
	"cmp"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"time"

	"gorm.io/gorm"

	"lottery/models"
)

// linksKept is how long links are kept after they were made; the hourly limit needs them for an hour.
const linksKept = 24 * time.Hour

// NewLink is the input of CreateLink.
type NewLink struct {
	Hash      [32]byte // SHA-256 of the token
	Purpose   models.LinkPurpose
	Email     string
	Mailbox   string // Email as mail servers read it, by which mails are counted; "" = Email itself
	AccountID string // for LinkChangeEmail
	SessionID string // session that asks for a LinkChangeEmail and must still be alive; "" = none
	Intent    string
	// PerHour is how many links an address is sent per hour, whoever asks. Beyond that it is sent one only if it has no
	// working link of the purpose: asking for a stranger's address does not keep anybody from a link.
	PerHour int
}

// ErrTooManyLinks means that an address was sent enough mails for an hour, the last less than models.LinkLives ago.
var ErrTooManyLinks = models.Errorf(models.CodeConflict, "this address was sent several links in the last hour; look for them, or try again in 15 minutes")

// ErrSignedOut means that the session that asks for a link has ended meanwhile.
var ErrSignedOut = models.Errorf(models.CodeConflict, "you have been signed out in the meantime; sign in again")

// errLinkGone is the same for a link that never existed and one that no longer works.
var errLinkGone = models.Errorf(models.CodeNotFound, "this link has already been used, or has expired")

// CreateLink records a link that is about to be sent, in the same way for addresses with and without an account. Of an
// account's links to new addresses only the newest works.
func (s *Store) CreateLink(ctx context.Context, in NewLink) error {
	email, key, err := models.ParseEmail(in.Email)
	if err != nil {
		return err
	}
	mailbox := cmp.Or(models.EmailKey(in.Mailbox), key)
	l := models.Link{
		Hash: in.Hash[:], Purpose: in.Purpose, Email: email, EmailKey: key, Mailbox: emailHash(mailbox), AccountID: in.AccountID, Intent: in.Intent,
	}
	err = s.transaction(ctx, func(tx *gorm.DB) error {
		if err := s.lockAddress(tx, mailbox); err != nil {
			return err
		}
		now, err := s.clock(tx) // another node may have to spend it
		if err != nil {
			return err
		}
		l.CreatedAt, l.ExpiresAt = now, now.Add(models.LinkLives)
		if err := enough(tx, &l, in.PerHour); err != nil {
			return err
		}
		if in.Purpose == models.LinkChangeEmail {
			if _, err := s.lockMovable(tx, in.AccountID); err != nil {
				return err
			}
			if err := lives(tx, in.AccountID, in.SessionID); err != nil {
				return err
			}
			if err := s.voidChanges(tx, in.AccountID); err != nil {
				return err
			}
		}
		return tx.Create(&l).Error
	})
	return translate(err)
}

// enough returns an error if the address of a new link was already sent as many as allowed. tx must have locked the
// address. A link to a new address counts as working until it expires, since whoever asked for it can void it.
func enough(tx *gorm.DB, l *models.Link, perHour int) error {
	var sent, work int64
	latest := l.CreatedAt.Add(models.LinkAhead)
	err := tx.Model(&models.Link{}).Where("mailbox = ? AND created_at > ? AND expires_at <= ?", l.Mailbox, l.CreatedAt.Add(-time.Hour), latest).Count(&sent).Error
	if err != nil || sent < int64(perHour) {
		return err
	}
	err = tx.Model(&models.Link{}).Where("mailbox = ? AND purpose = ? AND expires_at > ? AND expires_at <= ? AND (spent_at IS NULL OR purpose = ?)",
		l.Mailbox, l.Purpose, l.CreatedAt, latest, models.LinkChangeEmail).Count(&work).Error
	if err == nil && work > 0 {
		err = ErrTooManyLinks
	}
	return err
}

// lives returns an error if a session has ended. tx must have locked its account, so that signing out everywhere waits.
func lives(tx *gorm.DB, accountID, sessionID string) error {
	if sessionID == "" {
		return nil
	}
	var n int64
	err := tx.Model(&models.Session{}).Where("account_id = ? AND id = ?", accountID, sessionID).Count(&n).Error
	if err == nil && n == 0 {
		err = ErrSignedOut
	}
	return err
}

// lockMovable returns an account whose address may change. It locks the account within tx before any of its links, so
// that others who change those wait.
func (s *Store) lockMovable(tx *gorm.DB, accountID string) (models.Account, error) {
	a, err := findAccount(s.locking(tx), accountID)
	if err == nil && a.Status == models.AccountSuspended { // its address would become free for a new account
		err = models.Errorf(models.CodeConflict, "the account is suspended, and its address cannot change until the suspension is lifted; contact support")
	}
	return a, err
}

// voidChanges voids an account's links to new addresses within tx. They stay as spent links, since what an address was
// sent counts for an hour.
func (s *Store) voidChanges(tx *gorm.DB, accountID string) error {
	return tx.Model(&models.Link{}).Where("account_id = ? AND purpose = ? AND spent_at IS NULL", accountID, models.LinkChangeEmail).
		Update("spent_at", s.now()).Error
}

// voidSignIns voids an address's sign-in links within tx, as voidChanges does with those to new addresses.
func (s *Store) voidSignIns(tx *gorm.DB, emailKey string) error {
	return tx.Model(&models.Link{}).Where("email_key = ? AND purpose = ? AND spent_at IS NULL", emailKey, models.LinkSignIn).
		Update("spent_at", s.now()).Error
}

// lockAddress makes other transactions about the same address wait until tx ends, so that they see its result.
func (s *Store) lockAddress(tx *gorm.DB, emailKey string) error {
	if s.dialect == SQLite {
		return nil // BEGIN IMMEDIATE: no other writer
	}
	return tx.Exec("SELECT pg_advisory_xact_lock(hashtextextended(?, 0))", "address "+emailKey).Error
}

// WithdrawLink deletes a link that was not sent.
func (s *Store) WithdrawLink(ctx context.Context, hash [32]byte) error {
	return translate(s.writer(ctx).Where("hash = ? AND spent_at IS NULL", hash[:]).Delete(&models.Link{}).Error)
}

// Link returns a working link, without spending it. With CodeNotFound it returns what a link that no longer works was.
func (s *Store) Link(ctx context.Context, hash [32]byte, purpose models.LinkPurpose) (models.Link, error) {
	l, err := s.workingLink(s.reader(ctx), hash, purpose)
	return l, translate(err)
}

func (s *Store) workingLink(tx *gorm.DB, hash [32]byte, purpose models.LinkPurpose) (models.Link, error) {
	var l models.Link
	now, err := s.clock(tx)
	if err != nil {
		return l, err
	}
	err = tx.Take(&l, "hash = ? AND purpose = ?", hash[:], purpose).Error
	if errors.Is(err, gorm.ErrRecordNotFound) || (err == nil && !l.Works(now)) {
		return l, errLinkGone
	}
	return l, err
}

// spend marks a link as used within tx. If two callers try at once, one gets an error.
func (s *Store) spend(tx *gorm.DB, hash [32]byte, purpose models.LinkPurpose) (models.Link, error) {
	now, err := s.clock(tx)
	if err != nil {
		return models.Link{}, err
	}
	done := tx.Model(&models.Link{}).
		Where("hash = ? AND purpose = ? AND spent_at IS NULL AND expires_at > ? AND expires_at <= ?", hash[:], purpose, now, now.Add(models.LinkAhead)).
		Update("spent_at", now)
	if done.Error != nil {
		return models.Link{}, done.Error
	}
	if done.RowsAffected == 0 {
		return models.Link{}, errLinkGone
	}
	var l models.Link
	err = tx.Take(&l, "hash = ?", hash[:]).Error
	return l, err
}

// SignIn is the input of Store.SignIn.
type SignIn struct {
	Link     [32]byte // SHA-256 of the link's token
	Session  [32]byte // SHA-256 of the new session's token
	Old      [32]byte // hash of this browser's previous session; zero if none
	NewID    string   // id for a new account, if one must be made
	Carried  int      // how many of the address's Departures NewID's counter already includes
	FirstKey bool     // make a key for a new account, if its plan allows one
}

// SignedIn is the result of Store.SignIn.
type SignedIn struct {
	Account models.Account
	Link    models.Link
	New     bool   // the account was made just now
	Key     string // its first key, known only now; "" = none was made
}

// ErrAccountChanged means that the address's account was closed, or that it got one, between Departures and SignIn: call
// Departures again.
var ErrAccountChanged = errors.New("an account of this address was closed or created just now")

// SignIn spends a link and opens a session, making an account if the address has none. The browser's previous session
// ends, so that nobody who planted or saw it is signed in.
func (s *Store) SignIn(ctx context.Context, plans models.Plans, in SignIn) (SignedIn, error) {
	var out SignedIn
	err := s.transaction(ctx, func(tx *gorm.DB) error {
		out = SignedIn{}
		l, err := s.workingLink(tx, in.Link, models.LinkSignIn)
		if err != nil {
			return err
		}
		if err := s.lockAddress(tx, l.EmailKey); err != nil {
			return err
		}
		// The account, its links and sessions, and the number of its change are locked in this order, as in DeleteAccount.
		var missing error
		if out.Account, missing = findAccount(s.locking(tx), l.EmailKey); missing != nil && models.ErrorCode(missing) != models.CodeNotFound {
			return missing
		}
		if out.Link, err = s.spend(tx, in.Link, models.LinkSignIn); err != nil {
			return err
		}
		if err := tx.Where("hash = ?", in.Old[:]).Delete(&models.Session{}).Error; err != nil {
			return err
		}
		if missing != nil {
			if err := s.signUp(tx, plans, &in, &out); err != nil {
				return err
			}
		}
		return s.newSession(tx, out.Account.ID, in.Session)
	})
	if errors.Is(err, ErrAccountChanged) {
		return out, err
	}
	return out, translate(err)
}

func (s *Store) signUp(tx *gorm.DB, plans models.Plans, in *SignIn, out *SignedIn) error {
	departed, err := s.departures(tx, out.Link.EmailKey)
	if err != nil {
		return err
	}
	if len(departed) != in.Carried {
		return ErrAccountChanged
	}
	out.Account, err = s.createAccount(tx, in.NewID, NewAccount{Email: out.Link.Email})
	if models.ErrorCode(err) == models.CodeConflict { // an operator created it, or another account moved here
		return ErrAccountChanged
	}
	if err != nil {
		return err
	}
	out.New = true
	plan, _ := out.Account.Plan()
	if !in.FirstKey || plans[plan].MaxKeys == 0 { // customers who must buy first still have to sign up
		return nil
	}
	key, err := s.insertKey(tx, &out.Account, "First key", nil)
	out.Key = key.Secret
	return err
}

// EmailChange is the input of Store.ChangeEmail.
type EmailChange struct {
	Link    [32]byte      // SHA-256 of the link's token
	Session [32]byte      // hash of the session of the browser in which the link is used; zero if it has none
	Claim   time.Duration // how long the mail to the address before is left to the caller
}

// ChangeEmail spends a link that was sent to the new address and makes that the account's address. It voids the
// account's links to other addresses, and ends its sessions but for that of the browser in which the link is used:
// whoever can read the new address owns the account, and need not be who was signed in before. The mail that tells the
// address before of the change is in the outbox with it, and claimed, so that the caller can send it at once. That
// Stripe is to be told, if it knows the account, is noted too (EmailsOwed).
func (s *Store) ChangeEmail(ctx context.Context, in EmailChange) (told models.Mail, after models.Account, err error) {
	err = s.transaction(ctx, func(tx *gorm.DB) error {
		l, err := s.workingLink(tx, in.Link, models.LinkChangeEmail)
		if err != nil {
			return err
		}
		a, err := s.lockMovable(tx, l.AccountID)
		if err != nil {
			return err
		}
		if _, err := s.spend(tx, in.Link, models.LinkChangeEmail); err != nil {
			return err
		}
		if err := s.voidChanges(tx, a.ID); err != nil {
			return err
		}
		if err := tx.Where("account_id = ? AND hash <> ?", a.ID, in.Session[:]).Delete(&models.Session{}).Error; err != nil {
			return err
		}
		err = tx.Model(&models.Account{}).Where("id = ?", a.ID).Updates(map[string]any{"email": l.Email, "email_key": l.EmailKey}).Error
		if errors.Is(err, gorm.ErrDuplicatedKey) {
			return models.Errorf(models.CodeConflict, "there is another account with this address; sign in there, or close it first")
		}
		if err != nil {
			return err
		}
		if told, err = s.postChanged(tx, a.ID, models.EmailChanged{Before: *a.Email, After: l.Email}, in.Link, in.Claim); err != nil {
			return err
		}
		if err := s.oweEmail(tx, a.ID, hex.EncodeToString(in.Link[:8])); err != nil {
			return err
		}
		entry := models.AuditEntry{Actor: "customer", Action: "email.changed", AccountID: a.ID, Reason: "confirmed at the new address"}
		if err := s.audit(tx, &entry); err != nil {
			return err
		}
		if err := tx.Take(&after, "id = ?", a.ID).Error; err != nil {
			return err
		}
		return s.changed(tx, a.ID)
	})
	return told, after, translate(err)
}

// postChanged puts the mail to an address that an account had before into the outbox. Its name is that of the spent
// link, which works once.
func (s *Store) postChanged(tx *gorm.DB, accountID string, c models.EmailChanged, link [32]byte, claim time.Duration) (models.Mail, error) {
	data, err := json.Marshal(c)
	if err != nil {
		return models.Mail{}, err
	}
	m := models.Mail{
		AccountID: accountID, Kind: models.MailEmailChanged, Data: string(data),
		Once: string(models.MailEmailChanged) + ":" + accountID + ":" + hex.EncodeToString(link[:8]), Attempts: 1,
	}
	if _, err := s.post(tx, &m); err != nil {
		return models.Mail{}, err
	}
	return m, tx.Model(&models.Mail{}).Where("id = ?", m.ID).Update("next_at", s.later(claim)).Error
}
