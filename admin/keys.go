package admin

import (
	"context"
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"lottery/models"
	"lottery/models/secret"
	"lottery/models/store"
)

func (t *tool) keys() *cli.Command {
	const keyIs = "KEY is an ID, the first 12 characters of a key, or - to read the whole key from stdin.\n"
	return &cli.Command{Name: "keys", Usage: "API keys", Subcommands: []*cli.Command{
		{
			Name: "create", Usage: "create an API key and show it, this once only",
			Description: "The plan limits the number of live keys; expired and revoked keys, and those in a grace period, do not count.\n" +
				"A date means the end of that day in UTC.\n\n" +
				"Example:\n  lotteryadmin keys create --account ada@example.com --name laptop --expires 90d\n" +
				"  lotteryadmin keys create --account bob@example.com --create-account --plan pro",
			Flags: []cli.Flag{
				&cli.StringFlag{Name: "account", Required: true, Usage: "the key's `ACCOUNT`: an ID or an email address"},
				&cli.StringFlag{Name: "name", Usage: "a `NAME` to tell the key apart from others"},
				&cli.StringFlag{Name: "expires", Usage: "when the key stops working: `90d|DATE`, or 2w, or 36h"},
				&cli.BoolFlag{Name: "create-account", Usage: "create the account if there is none; --account must be an email address"},
				&cli.StringFlag{Name: "plan", Usage: "grant the new account the plan `free|pro`"},
			},
			Action: t.stored(audited(keysCreate)),
		},
		{
			Name: "list", Usage: "list keys, oldest first",
			Description: "Keys that are expired or revoked are only listed with --all.\n\n" +
				"Example:\n  lotteryadmin keys list --account ada@example.com --all",
			Flags: []cli.Flag{
				&cli.StringFlag{Name: "account", Usage: "only those of `ACCOUNT`"},
				&cli.BoolFlag{Name: "all", Usage: "include those that no longer work"},
			},
			Action: t.stored(keysList),
		},
		{
			Name: "revoke", Usage: "permanently disable a key", ArgsUsage: "KEY", Flags: yesFlag(),
			Description: keyIs + "Within 2 seconds, requests with it get a 401. This cannot be undone.\n\n" +
				"Example:\n  lotteryadmin keys revoke ldk_3fG7aB9x --yes\n  lotteryadmin keys revoke - --yes < leaked-key.txt",
			Action: t.stored(audited(keysRevoke)),
		},
		{
			Name: "rotate", Usage: "replace a key with a new one and show it, this once only", ArgsUsage: "KEY",
			Description: keyIs + "The new key has the name and expiration date of the old one, which keeps working for the grace period\n" +
				"and meanwhile does not count toward the plan's limit.\n\n" +
				"Example:\n  lotteryadmin keys rotate ldk_3fG7aB9x --grace 2d",
			Flags: []cli.Flag{
				&cli.StringFlag{Name: "grace", Usage: "how long the old key keeps working: default `24h`, or 2d; 0 disables it immediately"},
			},
			Action: t.stored(audited(keysRotate)),
		},
	}}
}

// key is an API key as commands print it.
type key struct {
	ID         string           `json:"id"`
	AccountID  string           `json:"account_id"`
	Name       *string          `json:"name"`
	Prefix     string           `json:"prefix"`
	Status     models.KeyStatus `json:"status"`
	CreatedAt  string           `json:"created_at"`
	ExpiresAt  *string          `json:"expires_at"` // for a rotated key, the end of its grace period
	LastUsedAt *string          `json:"last_used_at"`
	RevokedAt  *string          `json:"revoked_at"`
}

func (c *call) keyOf(k *models.APIKey) key {
	now := c.env.Now()
	return key{
		ID: k.ID, AccountID: k.AccountID, Name: textOf(k.Name), Prefix: k.Prefix, Status: k.StatusAt(now),
		CreatedAt: stamp(k.CreatedAt), ExpiresAt: stampOf(k.EndsAt()), LastUsedAt: stampOf(k.LastUsedAt), RevokedAt: stampOf(k.RevokedSince(now)),
	}
}

// newKey is a key with its secret, which is shown only this once.
type newKey struct {
	key
	Key string `json:"key,omitempty"` // "" in a table, above which it stands alone
}

func (c *call) newKeyOf(k *store.Key) newKey {
	out := newKey{c.keyOf(&k.APIKey), k.Secret}
	if c.form == formTable {
		out.Key = ""
	}
	return out
}

// rotatedKey is a new key and the one that it replaces.
type rotatedKey struct {
	newKey
	Replaces replacedKey `json:"replaces"`
}

type replacedKey struct {
	ID        string  `json:"id"`
	ExpiresAt *string `json:"expires_at"`
}

// keyResult prints a new key. The key exists by now: if it cannot be printed, nobody will ever know it, and the error
// says so.
func (c *call) keyResult(token string, object any) error {
	c.say("This is the only time the key is shown: save it now.")
	if err := c.printKey(token, object); err != nil {
		return fmt.Errorf("the new key was created but could not be shown; `lotteryadmin keys rotate %s --grace 0s` replaces it: %v", token[:secret.PrefixLength], err) //nolint:errorlint // told, even if nobody reads the result: see readerGone
	}
	return nil
}

// printKey prints the key; in table form, alone on a line, where it is easily copied.
func (c *call) printKey(token string, object any) error {
	if c.form == formTable {
		if _, err := fmt.Fprintf(c.env.Stdout, "\n    %s\n\n", token); err != nil {
			return fmt.Errorf("print the key: %w", err)
		}
	}
	return c.result(object)
}

func keysCreate(ctx context.Context, c *call) error {
	plan, err := c.plan()
	if err != nil {
		return err
	}
	if plan != nil && !c.Bool("create-account") {
		return models.Errorf(models.CodeInvalid, "--plan is only for an account that --create-account creates; for an existing one, use `lotteryadmin accounts set-plan`")
	}
	in := store.NewKey{Account: asStored(c.String("account")), Name: strings.TrimSpace(c.String("name")), Create: c.Bool("create-account"), Grant: plan}
	if c.IsSet("expires") {
		at, err := parseExpiry(c.String("expires"), c.env.Now())
		if err != nil {
			return err
		}
		in.ExpiresAt = &at
	}
	k, err := c.store.CreateKey(ctx, c.cfg.Plans, in)
	if err != nil {
		return err
	}
	if has, _ := k.Account.Plan(); plan != nil && (k.Account.GrantedPlan == nil || has != *plan) {
		c.say("The account already exists and keeps its plan (%s); to change it, use `lotteryadmin accounts set-plan`.", has)
	}
	c.saySuspended(&k.Account)
	return c.keyResult(k.Secret, c.newKeyOf(&k))
}

func keysList(ctx context.Context, c *call) error {
	account, err := c.onlyAccount(ctx)
	if err != nil {
		return err
	}
	found, err := c.store.Keys(ctx, account)
	if err != nil {
		return err
	}
	list := make([]key, 0, len(found))
	for _, k := range listOf(found, c.keyOf) {
		if c.Bool("all") || k.Status == models.KeyActive || k.Status == models.KeyGrace {
			list = append(list, k)
		}
	}
	return c.result(list)
}

func keysRevoke(ctx context.Context, c *call) error {
	ref, err := c.keyRef()
	if err != nil {
		return err
	}
	err = c.confirm(func() (string, error) {
		return fmt.Sprintf("Revoke key %s? It will stop working permanently.", shownKey(ref)), nil
	})
	if err != nil {
		return err
	}
	k, err := c.store.RevokeKey(ctx, ref)
	if err != nil {
		return err
	}
	return c.result(c.keyOf(&k))
}

// shownKey returns a key's reference without the secret part of a whole key.
func shownKey(ref string) string {
	if secret.WellFormed(ref) {
		return ref[:secret.PrefixLength] + "…"
	}
	return ref
}

func keysRotate(ctx context.Context, c *call) error {
	grace := day
	if c.IsSet("grace") {
		var err error
		if grace, err = parseSpan("--grace", c.String("grace")); err != nil {
			return err
		}
	}
	ref, err := c.keyRef()
	if err != nil {
		return err
	}
	fresh, old, err := c.store.RotateKey(ctx, ref, grace)
	if err != nil {
		return err
	}
	c.saySuspended(&fresh.Account)
	return c.keyResult(fresh.Secret, rotatedKey{c.newKeyOf(&fresh), replacedKey{old.ID, stampOf(old.EndsAt())}})
}
