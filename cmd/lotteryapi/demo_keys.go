package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"strings"
	"time"

	"lottery/models"
	"lottery/models/secret"
	"lottery/models/store"
)

// demoKeys returns the keys in file, as long as they work; it replaces those that do not.
func demoKeys(ctx context.Context, st *store.Store, plans models.Plans, file string) (map[models.Plan]string, error) {
	kept, err := readDemoKeys(file)
	if err != nil {
		return nil, err
	}
	keys := map[models.Plan]string{}
	for _, a := range demoAccounts {
		if key := kept[a.plan]; works(ctx, st, key, a.email) {
			keys[a.plan] = key
			continue
		}
		if keys[a.plan], err = newDemoKey(ctx, st, plans, a.plan, a.email); err != nil {
			return nil, err
		}
	}
	return keys, writeDemoKeys(file, keys)
}

// works reports whether key is a working key of the account at email.
func works(ctx context.Context, st *store.Store, key, email string) bool {
	if !secret.WellFormed(key) {
		return false
	}
	k, err := st.KeyByHash(ctx, secret.Hash(key))
	return err == nil && k.StatusAt(time.Now()) == models.KeyActive && k.Account.Status == models.AccountActive &&
		k.Account.Email != nil && *k.Account.Email == email
}

// newDemoKey makes a key for a demo account whose earlier keys are lost.
func newDemoKey(ctx context.Context, st *store.Store, plans models.Plans, plan models.Plan, email string) (string, error) {
	if account, err := st.Account(ctx, email); err == nil {
		old, err := st.Keys(ctx, account.ID)
		if err != nil {
			return "", err
		}
		for i := range old {
			if old[i].Name != demoKeyName {
				continue
			}
			if _, err := st.RevokeKey(ctx, old[i].ID); err != nil {
				return "", err
			}
		}
		if account.Status == models.AccountSuspended {
			if _, err := st.SetAccountStatus(ctx, account.ID, models.AccountActive); err != nil {
				return "", err
			}
		}
	}
	var grant *models.Plan // Free needs no grant
	if plan != models.PlanFree {
		grant = &plan
	}
	// Somebody who tried the dashboard may have made all keys that the plan allows. The demo must still start: while it
	// does not run, there is no page on which to revoke one.
	roomy := models.Plans{}
	for name, terms := range plans {
		terms.MaxKeys = math.MaxInt
		roomy[name] = terms
	}
	key, err := st.CreateKey(ctx, roomy, store.NewKey{Account: email, Name: demoKeyName, Create: true, Grant: grant})
	if err != nil {
		return "", fmt.Errorf("make the demo's %s key: %w", plan, err)
	}
	return key.Secret, nil
}

const demoKeyName = "demo"

// readDemoKeys reads lines of a plan and a key. It skips what it cannot read.
func readDemoKeys(file string) (map[models.Plan]string, error) {
	keys := map[models.Plan]string{}
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return keys, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the demo's keys: %w", err)
	}
	for line := range strings.Lines(string(text)) {
		if plan, key, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
			keys[models.Plan(plan)] = key
		}
	}
	return keys, nil
}

// writeDemoKeys writes the keys atomically, readable for this user only.
func writeDemoKeys(file string, keys map[models.Plan]string) error {
	var b strings.Builder
	for _, a := range demoAccounts {
		fmt.Fprintf(&b, "%s %s\n", a.plan, keys[a.plan])
	}
	part := file + ".part"
	if err := os.WriteFile(part, []byte(b.String()), 0o600); err != nil {
		return fmt.Errorf("keep the demo's keys: %w", err)
	}
	if err := os.Chmod(part, 0o600); err != nil {
		return fmt.Errorf("keep the demo's keys: %w", err)
	}
	if err := os.Rename(part, file); err != nil {
		return fmt.Errorf("keep the demo's keys: %w", err)
	}
	return nil
}
