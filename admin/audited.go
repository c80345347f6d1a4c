package admin

import (
	"context"
	"errors"
	"os"
	"os/user"
	"strconv"
	"strings"
	"time"

	"lottery/configs"
	"lottery/models"
	"lottery/models/store"
)

// noteTimeout bounds recording an interrupted command in the audit log.
const noteTimeout = 10 * time.Second

// audited makes a command that changes something leave an entry in the audit log. The store writes it in the change's
// transaction if there is one; otherwise, or if the command fails, audited writes it right afterwards.
func audited(run action) action {
	return func(ctx context.Context, c *call) error {
		o, err := c.operator()
		if err != nil {
			return err
		}
		err = run(store.WithOperator(ctx, o), c)
		result := ""
		switch {
		case (err == nil || readerGone(err)) && (o.Noted() || c.unchanged):
			return err
		case err != nil:
			if result = failure(ctx, err); result == "" || c.unchanged {
				return err
			}
		}
		noted := c.note(ctx, o, result)
		if errors.Is(err, store.ErrDiskFull) && errors.Is(noted, store.ErrDiskFull) {
			return err // nor is there room for an entry; there is after an import that was too large
		}
		return errors.Join(err, noted)
	}
}

// note writes an entry, even for a command that was interrupted.
func (c *call) note(ctx context.Context, o *store.Operator, result string) error {
	after, cancel := context.WithTimeout(context.WithoutCancel(ctx), noteTimeout)
	defer cancel()
	if c.about == "" {
		c.about = c.named(after)
	}
	what := "this attempt"
	if strings.HasPrefix(result, "done") {
		what = "the change"
	}
	if err := c.store.Note(after, o, c.about, c.object, result); err != nil {
		return &models.Error{Code: models.CodeUnavailable, Message: what + " could not be written to the audit log", Err: err}
	}
	return nil
}

// named returns the id of the account that the command line names; "" = none, or one that is not found.
func (c *call) named(ctx context.Context) string {
	ref := asStored(c.String("account"))
	if strings.Contains(c.Command.ArgsUsage, "ACCOUNT") {
		ref = c.account()
	}
	if ref == "" {
		return ""
	}
	a, err := c.store.KeptAccount(ctx, ref)
	if err != nil {
		return ""
	}
	return a.ID
}

// failure returns an error as the audit log records it; "" for one that comes before anything could be changed. It
// leaves out the error's own text, which may contain addresses.
func failure(ctx context.Context, err error) string {
	_, rejected := errors.AsType[rejectedError](err)
	switch code := models.ErrorCode(err); {
	case ctx.Err() != nil:
		return "interrupted"
	case rejected:
		return "done, some rows rejected"
	case readerGone(err):
		return "done, not all of it read"
	case code == models.CodeInvalid, errors.Is(err, errUnchanged):
		return ""
	case code == "":
		return "failed"
	default:
		return "failed: " + string(code)
	}
}

// operator returns who runs the command: --as or LOTTERY_OPERATOR, or whoever became root with sudo, or the system's
// user. The system's user is added if it is a different one: anybody can claim a name.
func (c *call) operator() (*store.Operator, error) {
	name := osUser(c.env.Getenv)
	who := name
	for _, claimed := range []string{c.String("as"), c.env.Getenv(configs.OperatorEnv), c.env.Getenv("SUDO_USER")} {
		if claimed = strings.TrimSpace(claimed); claimed == "" {
			continue
		}
		if err := models.CheckText("an operator's name (--as, LOTTERY_OPERATOR)", claimed, 1, 100); err != nil {
			return nil, err
		}
		if claimed != name {
			who = claimed + " (" + name + ")"
		}
		break
	}
	origin, err := os.Hostname()
	if err != nil {
		origin = "unknown host"
	}
	if from, _, _ := strings.Cut(c.env.Getenv("SSH_CLIENT"), " "); from != "" { // address, port, port
		origin += ", from " + clean(from)
	}
	return &store.Operator{Who: who, Origin: origin, Command: strings.TrimPrefix(c.Command.HelpName, "lotteryadmin ")}, nil
}

// osUser returns the user's name, or number if it has no name (in a container).
func osUser(getenv func(string) string) string {
	if u, err := user.Current(); err == nil && u.Username != "" {
		return u.Username
	}
	if name := getenv("USER"); name != "" {
		return name + "?"
	}
	return "uid " + strconv.Itoa(os.Getuid())
}
