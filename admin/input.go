package admin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"lottery/models"
	"lottery/models/secret"
)

// isTerminal asks the operating system whether a stream is a terminal.
func isTerminal(stream any) bool {
	file, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// interruptible is a reader that abandons a blocked read (from a person, or a program that hangs) when ctx ends.
type interruptible struct {
	ctx context.Context
	r   io.Reader
}

func (i *interruptible) Read(p []byte) (int, error) {
	type result struct {
		n   int
		err error
	}
	buf := make([]byte, len(p)) // a separate buffer: an abandoned read may still write to it
	done := make(chan result, 1)
	go func() {
		n, err := i.r.Read(buf)
		done <- result{n, err}
	}()
	select {
	case <-i.ctx.Done():
		return 0, i.ctx.Err()
	case r := <-done:
		copy(p, buf[:r.n])
		return r.n, r.err
	}
}

// errUnchanged is the error of a command that was not confirmed.
var errUnchanged = errors.New("not confirmed: nothing was changed")

// confirm asks for confirmation before a command with a flag --yes continues. Without a terminal it requires --yes.
// question is called only if it will be asked.
func (c *call) confirm(question func() (string, error)) error {
	if c.Bool("yes") {
		return nil
	}
	if !c.env.IsTerminal(c.env.Stdin) || !c.env.IsTerminal(c.env.Stderr) {
		return models.Errorf(models.CodeInvalid, "%s asks for confirmation, and there is no terminal: add --yes", strings.TrimPrefix(c.Command.HelpName, "lotteryadmin "))
	}
	text, err := question()
	if err != nil {
		return err
	}
	fmt.Fprintf(c.env.Stderr, "%s [y/N] ", clean(text))
	answer, err := c.stdin.ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("read the answer: %w", err)
	}
	switch strings.ToLower(strings.TrimSpace(answer)) {
	case "y", "yes":
		return nil
	default:
		return errUnchanged
	}
}

const maxStdinKey = 4096 // the most bytes read when a key is expected on stdin

// keyRef returns the KEY argument: an id, a 12-character prefix, or the whole key read from stdin if the argument is
// "-". A whole key on the command line is refused, and not repeated: other users and the shell's history would see it.
func (c *call) keyRef() (string, error) {
	if arg := c.arg(0); arg != "-" {
		if strings.HasPrefix(arg, secret.KeyPrefix) && len(arg) > secret.PrefixLength {
			return "", models.Errorf(models.CodeInvalid, "a whole key on the command line would stay in the shell's history: "+
				"give its ID or first %d characters, or - and the key on stdin", secret.PrefixLength)
		}
		return arg, nil
	}
	key, err := c.readKey()
	if err != nil {
		return "", fmt.Errorf("read the key from stdin: %w", err)
	}
	if !secret.WellFormed(key) {
		return "", models.Errorf(models.CodeInvalid, "stdin did not contain an API key: with -, it must be the whole key, %s and %d more characters",
			secret.KeyPrefix, secret.KeyLength-len(secret.KeyPrefix))
	}
	return key, nil
}

// readKey reads one line from a terminal, or everything from a pipe.
func (c *call) readKey() (string, error) {
	if c.env.IsTerminal(c.env.Stdin) {
		if c.env.IsTerminal(c.env.Stderr) {
			fmt.Fprint(c.env.Stderr, "Key: ")
		}
		text, err := c.stdin.ReadString('\n')
		if errors.Is(err, io.EOF) {
			err = nil
		}
		return strings.TrimSpace(text), err
	}
	text, err := io.ReadAll(io.LimitReader(c.stdin, maxStdinKey))
	return strings.TrimSpace(string(text)), err
}
