package store

import (
	"context"
	"errors"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"lottery/models"
	"lottery/models/secret"
)

// NewKey is the input of CreateKey.
type NewKey struct {
	Account   string // id or email address
	Name      string
	ExpiresAt *time.Time
	// Create makes the account if there is none; Account must then be an email address.
	Create bool
	Grant  *models.Plan // for a new account
}

// Key is a stored key with its account, and with the key itself if it was just made.
type Key struct {
	models.APIKey
	Account models.Account
	Secret  string // the whole key, known only at creation
}

// errKeyAsName does not repeat the name, which holds a key.
var errKeyAsName = models.Errorf(models.CodeInvalid, "a key's name must not hold an API key: names are stored and shown as they are")

// CreateKey makes a key; CodeConflict if the plan does not allow another live one.
func (s *Store) CreateKey(ctx context.Context, plans models.Plans, in NewKey) (Key, error) {
	if in.ExpiresAt != nil && !in.ExpiresAt.After(s.now()) {
		return Key{}, models.Errorf(models.CodeInvalid, "a key must expire in the future, not at %s", in.ExpiresAt.Format(time.RFC3339))
	}
	if secret.Holds(in.Name) {
		return Key{}, errKeyAsName
	}
	var key Key
	err := s.transaction(ctx, func(tx *gorm.DB) error {
		if in.Create && storable(in.Account) { // if two callers do this at once, only one makes the account
			if err := s.lockAddress(tx, models.EmailKey(in.Account)); err != nil {
				return err
			}
		}
		made := "" // the grant of a new account
		account, err := findAccount(s.locking(tx), in.Account)
		if models.ErrorCode(err) == models.CodeNotFound && in.Create {
			account, err = s.createAccount(tx, NewAccountID(), NewAccount{Email: in.Account, Grant: in.Grant})
			made = granted(in.Grant)
		}
		if err != nil {
			return err
		}
		if err := s.roomForKey(tx, plans, &account); err != nil {
			return err
		}
		if key, err = s.insertKey(tx, &account, in.Name, in.ExpiresAt); err != nil {
			return err
		}
		return s.did(tx, models.AuditEntry{AccountID: account.ID, Object: key.ID, Became: made})
	})
	return key, translate(err)
}

// locking makes the next row read in tx stay unchanged until commit, so that key limits hold under concurrency.
func (s *Store) locking(tx *gorm.DB) *gorm.DB {
	if s.dialect == SQLite {
		return tx // BEGIN IMMEDIATE: no other writer
	}
	return tx.Clauses(clause.Locking{Strength: "NO KEY UPDATE"})
}

func (s *Store) roomForKey(tx *gorm.DB, plans models.Plans, a *models.Account) error {
	var keys []models.APIKey
	if err := tx.Where("account_id = ? AND revoked_at IS NULL", a.ID).Find(&keys).Error; err != nil {
		return err
	}
	live, now := 0, s.now()
	for i := range keys {
		if keys[i].StatusAt(now) == models.KeyActive {
			live++
		}
	}
	plan, _ := a.Plan()
	most := plans[plan].MaxKeys
	if most == 0 {
		return models.Errorf(models.CodeConflict, "the %s plan allows no keys, and account %s is on it", plan, a.ID)
	}
	if live >= most {
		return models.Errorf(models.CodeConflict, "the %s plan allows %d live keys, and account %s has %d: revoke one first", plan, most, a.ID, live)
	}
	return nil
}

func (s *Store) insertKey(tx *gorm.DB, a *models.Account, name string, expires *time.Time) (Key, error) {
	if err := models.CheckText("a key's name", name, 0, 100); err != nil {
		return Key{}, err
	}
	token := secret.NewKey()
	hash := secret.Hash(token)
	k := models.APIKey{
		ID: secret.NewID("key_"), AccountID: a.ID, Name: name, Prefix: token[:secret.PrefixLength], Hash: hash[:],
		CreatedAt: s.now(), ExpiresAt: expires,
	}
	if err := tx.Create(&k).Error; err != nil {
		return Key{}, err
	}
	return Key{APIKey: k, Account: *a, Secret: token}, s.changed(tx, a.ID)
}

// RevokeKey revokes a key at once. Revoking a revoked key has no effect.
func (s *Store) RevokeKey(ctx context.Context, ref string) (models.APIKey, error) {
	var k models.APIKey
	err := s.transaction(ctx, func(tx *gorm.DB) error {
		var err error
		if k, err = findKey(s.locking(tx), ref); err != nil {
			return err
		}
		now := s.now()
		entry := models.AuditEntry{AccountID: k.AccountID, Object: k.ID, Was: string(k.StatusAt(now)), Became: string(models.KeyRevoked)}
		if err := s.did(tx, entry); err != nil || k.RevokedAt != nil {
			return err
		}
		k.RevokedAt = &now
		if err := tx.Model(&models.APIKey{}).Where("id = ?", k.ID).Update("revoked_at", now).Error; err != nil {
			return err
		}
		return s.changed(tx, k.AccountID)
	})
	return k, translate(err)
}

// RotateKey makes a key with the name and expiry of an active one, which keeps working for grace (0 = not at all). It
// returns the new key and the old one.
func (s *Store) RotateKey(ctx context.Context, ref string, grace time.Duration) (Key, models.APIKey, error) {
	var fresh Key
	var old models.APIKey
	err := s.transaction(ctx, func(tx *gorm.DB) error {
		var err error
		if old, err = findKey(tx, ref); err != nil {
			return err
		}
		var account models.Account // locked before its key, as in DeleteAccount; rotations of its other keys wait
		if err := s.locking(tx).Take(&account, "id = ?", old.AccountID).Error; err != nil {
			return err
		}
		if old, err = findKey(s.locking(tx), old.ID); err != nil {
			return err
		}
		now, err := s.clock(tx) // by a clock that is behind, the key would die at once
		if err != nil {
			return err
		}
		if status := old.StatusAt(now); status != models.KeyActive {
			return unrotatable(&old, status)
		}
		if grace > 0 {
			if err := roomForGrace(tx, old.AccountID, now); err != nil {
				return err
			}
		}
		until := now.Add(grace)
		old.GraceUntil = &until
		columns := map[string]any{"grace_until": until}
		if grace <= 0 {
			old.RevokedAt = &now
			columns["revoked_at"] = now
		}
		if err := tx.Model(&models.APIKey{}).Where("id = ?", old.ID).Updates(columns).Error; err != nil {
			return err
		}
		if fresh, err = s.insertKey(tx, &account, old.Name, old.ExpiresAt); err != nil {
			return err
		}
		return s.did(tx, models.AuditEntry{AccountID: account.ID, Object: old.ID, Became: fresh.ID})
	})
	return fresh, old, translate(err)
}

// unrotatable says why a key that is not active cannot be rotated. A rotated key has a successor, which was shown only
// once: somebody who submitted the form twice has not seen it.
func unrotatable(k *models.APIKey, status models.KeyStatus) error {
	is, remedy := "is revoked", "create a new one instead"
	switch {
	case k.GraceUntil != nil:
		is, remedy = "has already been rotated", "if you did not see the key that replaced it, rotate that one"
	case status == models.KeyExpired:
		is = "has expired"
	}
	return models.Errorf(models.CodeConflict, "key %s %s: only an active key can be rotated; %s", k.Prefix, is, remedy)
}

// maxGraceKeys is how many rotated keys of an account may be in their grace period at once; plans do not count them.
const maxGraceKeys = 50

func roomForGrace(tx *gorm.DB, accountID string, now time.Time) error {
	var living int64
	err := tx.Model(&models.APIKey{}).Where("account_id = ? AND revoked_at IS NULL AND grace_until > ?", accountID, now).Count(&living).Error
	if err == nil && living >= maxGraceKeys {
		err = models.Errorf(models.CodeConflict, "%d rotated keys of account %s still work, which is the maximum: revoke one of them first, or rotate without a grace period", living, accountID)
	}
	return err
}

// findKey returns a key by id, by its 12-character prefix, or by the whole key.
func findKey(tx *gorm.DB, ref string) (models.APIKey, error) {
	var keys []models.APIKey
	column, value := "id", any(ref)
	switch {
	case secret.WellFormed(ref):
		hash := secret.Hash(ref)
		column, value = "hash", hash[:]
		ref = ref[:secret.PrefixLength]
	case len(ref) == secret.PrefixLength && ref[:len(secret.KeyPrefix)] == secret.KeyPrefix:
		column, value = "prefix", ref
	}
	if storable(ref) {
		if err := tx.Where(column+" = ?", value).Limit(2).Find(&keys).Error; err != nil {
			return models.APIKey{}, err
		}
	}
	switch len(keys) {
	case 0:
		return models.APIKey{}, models.Errorf(models.CodeNotFound, "there is no key %q; `lotteryadmin keys list` lists them all", ref)
	case 1:
		return keys[0], nil
	default:
		return models.APIKey{}, models.Errorf(models.CodeConflict, "several keys begin with %q: use a key's ID", ref)
	}
}

// Keys lists keys, oldest first: of one account, or of all ("").
func (s *Store) Keys(ctx context.Context, accountID string) ([]models.APIKey, error) {
	q := s.reader(ctx).Order("created_at, id")
	if accountID != "" {
		q = q.Where("account_id = ?", accountID)
	}
	keys := []models.APIKey{}
	err := q.Find(&keys).Error
	return keys, unavailable(err)
}

// liveKey is the SQL condition for working keys; it takes the time twice.
const liveKey = "revoked_at IS NULL AND (grace_until IS NULL OR grace_until > ?) AND (expires_at IS NULL OR expires_at > ?)"

// RecentKeys returns all working keys of an account, and the newest of the others, of which there may be any number: at
// most that many. Both lists are newest first.
func (s *Store) RecentKeys(ctx context.Context, accountID string, most int) (live, dead []models.APIKey, err error) {
	now := s.now()
	of := func() *gorm.DB {
		return s.reader(ctx).Where("account_id = ?", accountID).Order("created_at DESC, id DESC")
	}
	if err := of().Where(liveKey, now, now).Find(&live).Error; err != nil {
		return nil, nil, unavailable(err)
	}
	if err := of().Where("NOT ("+liveKey+")", now, now).Limit(most).Find(&dead).Error; err != nil {
		return nil, nil, unavailable(err)
	}
	return live, dead, nil
}

// KeyOf returns one of an account's keys; CodeNotFound if it has none with that id.
func (s *Store) KeyOf(ctx context.Context, accountID, keyID string) (models.APIKey, error) {
	var k models.APIKey
	err := gorm.ErrRecordNotFound
	if storable(keyID) {
		err = s.reader(ctx).Take(&k, "account_id = ? AND id = ?", accountID, keyID).Error
	}
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return k, models.Errorf(models.CodeNotFound, "no such key")
	}
	return k, translate(err)
}

// HasKeys reports whether an account has ever had a key.
func (s *Store) HasKeys(ctx context.Context, accountID string) (bool, error) {
	var ids []string
	err := s.reader(ctx).Model(&models.APIKey{}).Where("account_id = ?", accountID).Limit(1).Pluck("id", &ids).Error
	return len(ids) > 0, translate(err)
}

// KeyByHash returns the key whose SHA-256 is hash, with its account (even a deleted one);
// CodeNotFound if there is none.
func (s *Store) KeyByHash(ctx context.Context, hash [32]byte) (Key, error) {
	var k Key
	err := s.urgent(ctx).Take(&k.APIKey, "hash = ?", hash[:]).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return Key{}, models.Errorf(models.CodeNotFound, "no such key")
	}
	if err == nil {
		err = s.urgent(ctx).Take(&k.Account, "id = ?", k.AccountID).Error
	}
	return k, translate(err)
}

// KeysByHash returns what decides about requests with a few hundred keys: the keys' ids, prefixes, hashes and times
// (except the creation time), and their accounts' ids, statuses, plans and limits. Unknown hashes are left out.
func (s *Store) KeysByHash(ctx context.Context, hashes [][32]byte) (map[[32]byte]Key, error) {
	values := make([][]byte, len(hashes))
	for i := range hashes {
		values[i] = hashes[i][:]
	}
	keys := make(map[[32]byte]Key, len(hashes))
	err := s.judgedBy(ctx, func(k *Key) { keys[[32]byte(k.Hash)] = *k }, "WHERE k.hash IN ?", values)
	return keys, err
}

// KeysAfter returns the same for the next n keys in the order of their ids, but only working ones: others pile up where
// keys are rotated. Its conditions on times cannot use an index, so that PostgreSQL follows the ids instead of sorting.
func (s *Store) KeysAfter(ctx context.Context, id string, n int) ([]Key, error) {
	now := s.now()
	keys := make([]Key, 0, n)
	err := s.judgedBy(ctx, func(k *Key) { keys = append(keys, *k) }, `WHERE k.id > ? AND k.revoked_at IS NULL
		AND COALESCE(k.grace_until > ?, TRUE) AND COALESCE(k.expires_at > ?, TRUE) ORDER BY k.id LIMIT ?`, id, now, now, n)
	return keys, err
}

// judgedBy reads what decides about requests without GORM's models, which would take as long again as the query: a
// request waits for a key that is used for the first time, and after startup that is every key.
func (s *Store) judgedBy(ctx context.Context, found func(k *Key), which string, args ...any) error {
	rows, err := s.urgent(ctx).Raw(`SELECT k.id, k.account_id, k.prefix, k.hash, k.expires_at, k.grace_until, k.last_used_at, k.revoked_at,
		a.status, a.granted_plan, a.billed_plan, a.limit_override
		FROM api_keys k JOIN accounts a ON a.id = k.account_id `+which, args...).Rows()
	if err != nil {
		return translate(err)
	}
	defer rows.Close()
	for rows.Next() {
		var k Key
		a := &k.Account
		if err := rows.Scan(&k.ID, &k.AccountID, &k.Prefix, &k.Hash, &k.ExpiresAt, &k.GraceUntil, &k.LastUsedAt, &k.RevokedAt,
			&a.Status, &a.GrantedPlan, &a.BilledPlan, &a.LimitOverride); err != nil {
			return translate(err)
		}
		a.ID = k.AccountID
		found(&k)
	}
	return translate(rows.Err())
}

// TouchKeys records that keys were last used at a given time, to the minute; an older time never replaces a newer one.
// Pass at most a few hundred keys: on SQLite the daily quotas wait for it.
func (s *Store) TouchKeys(ctx context.Context, ids []string, at time.Time) error {
	at = at.UTC().Truncate(time.Minute)
	return translate(s.writer(ctx).Model(&models.APIKey{}).
		Where("id IN ? AND (last_used_at IS NULL OR last_used_at < ?)", ids, at).
		Update("last_used_at", at).Error)
}
