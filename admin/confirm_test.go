package admin_test

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"

	"lottery/admin"
)

// thinking returns the input of a person who answers yes, but calls meanwhile first.
func thinking(meanwhile func()) io.Reader {
	return io.MultiReader(readerFunc(func([]byte) (int, error) {
		meanwhile()
		return 0, io.EOF
	}), strings.NewReader("y\n"))
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(b []byte) (int, error) { return f(b) }

// The answer to a question applies to the account that the question named, whoever has its address by then.
func TestAnswersAreAboutWhoWasNamed(t *testing.T) {
	t.Parallel()
	for _, command := range []string{"suspend", "delete"} {
		d := newDesk(t)
		ada, bob := d.object("accounts", "create", "--email", "ada@example.com"), d.object("accounts", "create", "--email", "bob@example.com")
		d.terminal = true
		var out, messages bytes.Buffer
		stdin := thinking(func() {
			d.exec("UPDATE accounts SET email = 'old@example.com', email_key = 'old@example.com' WHERE email_key = 'ada@example.com';" +
				"UPDATE accounts SET email = 'ada@example.com', email_key = 'ada@example.com' WHERE email_key = 'bob@example.com'")
		})
		if code := admin.Run(context.Background(), []string{"accounts", command, "ada@example.com", "-o", "json"}, d.env(stdin, &out, &messages)); code != 0 {
			t.Fatalf("%s: %d %s", command, code, &messages)
		}
		id, _ := ada["id"].(string)
		other, _ := bob["id"].(string)
		if !strings.Contains(messages.String(), id) || !strings.Contains(out.String(), id) {
			t.Errorf("%s: %s%s", command, &messages, &out)
		}
		if got := d.object("accounts", "show", other); got["status"] != "active" {
			t.Errorf("%s: the other account is %v", command, got)
		}
	}
}

// A question needs a person at both ends: one who reads it and one who answers. Anything else needs --yes.
func TestQuestionsNeedAPerson(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.run(0, "accounts", "create", "--email", "ada@example.com")
	key := d.object("keys", "create", "--account", "ada@example.com")["key"].(string)
	for _, c := range []struct {
		line, terminals, stdin string
		code                   int
		asks                   string
	}{
		{"accounts suspend ada@example.com", "out err", "y\n", 2, "there is no terminal: add --yes"},
		{"accounts suspend ada@example.com", "in out", "y\n", 2, "there is no terminal: add --yes"},
		{"accounts suspend ada@example.com", "in err", "y\n", 0, "? Its keys are refused until you resume it. [y/N] "},
		{"keys rotate -", "in out", key + "\n", 0, "This is the only time the key is shown"}, // a question would be lost
		{"keys revoke - --yes", "in err", key, 0, "Key: "},                                   // ended by Ctrl-D
	} {
		var out, messages strings.Builder
		env := d.env(strings.NewReader(c.stdin), &out, &messages)
		streams := map[any]string{env.Stdin: "in", env.Stdout: "out", env.Stderr: "err"}
		env.IsTerminal = func(stream any) bool { return strings.Contains(c.terminals, streams[stream]) }
		if code := admin.Run(t.Context(), strings.Fields(c.line), env); code != c.code || !strings.Contains(messages.String(), c.asks) {
			t.Errorf("%s, terminals %s: exit code %d: %s", c.line, c.terminals, code, &messages)
		}
		if asked := strings.HasPrefix(messages.String(), "Key: "); asked != (c.asks == "Key: ") {
			t.Errorf("%s, terminals %s: %s", c.line, c.terminals, &messages)
		}
	}
}

func TestConfirmation(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.object("accounts", "create", "--email", "ada@example.com")
	d.terminal = true
	for _, answer := range []string{"", "\n", "n\n", "no\n", "yesterday\n"} {
		d.stdin = answer
		out, messages := d.run(1, "accounts", "suspend", "ada@example.com")
		if out != "" || !strings.Contains(messages, "Suspend account acc_") || !strings.Contains(messages, "(ada@example.com)? ") ||
			!strings.Contains(messages, "[y/N] ") || !strings.HasSuffix(messages, "lotteryadmin: not confirmed: nothing was changed\n") {
			t.Errorf("%q: %q %q", answer, out, messages)
		}
	}
	if got := d.object("accounts", "show", "ada@example.com"); got["status"] != "active" {
		t.Fatalf("a no suspended the account: %v", got)
	}
	d.run(4, "accounts", "suspend", "nobody@example.com") // fails without asking
	d.stdin = "Yes\n"
	d.run(0, "accounts", "suspend", "ada@example.com")
	d.stdin = ""
	d.run(0, "accounts", "delete", "ada@example.com", "--yes")
}

func TestRevokeOnATerminal(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	made := d.object("keys", "create", "--account", "ada@example.com", "--create-account")
	key, ok := made["key"].(string)
	if !ok {
		t.Fatal(made)
	}
	d.terminal, d.stdin = true, key+"\ny\n" // the key and the answer come from the same stdin
	out, messages := d.run(0, "keys", "revoke", "-")
	if !strings.Contains(out, "revoked") || strings.Contains(out+messages, key) || !strings.Contains(messages, "Revoke key "+key[:12]+"…?") {
		t.Fatalf("%s%s", out, messages)
	}
}
