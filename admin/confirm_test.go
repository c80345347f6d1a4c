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
