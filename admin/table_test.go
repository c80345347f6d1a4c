package admin

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

type checked struct {
	ID     string `json:"id"`
	Name   string `json:"name"`
	Found  string `json:"found"`
	Remedy string `json:"remedy"`
}

var checks = []checked{
	{"key_hs1g9ZTS907brGKaYqNZ", "東京", "the mail server does not answer, and has not for an hour", "make sure that it is running"},
	{"key_2", "b", "ok", ""},
}

// On a terminal, prose continues within its column, and words that somebody may copy are not broken; for a program, each
// row is one line. A table that would not fit anyway stays as it is.
func TestTableWidth(t *testing.T) {
	t.Parallel()
	const wide = `ID                         NAME   FOUND                                                      REMEDY
key_hs1g9ZTS907brGKaYqNZ   東京   the mail server does not answer, and has not for an hour   make sure that it is running
key_2                      b      ok                                                         -
`
	for width, want := range map[int]string{
		0: wide, 200: wide, 121: wide, 40: wide,
		80: `ID                         NAME   FOUND                   REMEDY
key_hs1g9ZTS907brGKaYqNZ   東京   the mail server does    make sure that it is
                                  not answer, and has     running
                                  not for an hour
key_2                      b      ok                      -
`,
	} {
		var b bytes.Buffer
		if err := (tables{&b, width}).write(checks); err != nil {
			t.Fatal(err)
		}
		if got := b.String(); got != want {
			t.Errorf("%d columns:\n%s\nwant\n%s", width, got, want)
		}
	}
}

func TestTableOnATerminal(t *testing.T) {
	t.Parallel()
	terminal, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer terminal.Close()
	if err := unix.IoctlSetWinsize(int(terminal.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Col: 80, Row: 24}); err != nil {
		t.Fatal(err)
	}
	if got := tablesTo(terminal).width; got != 80 {
		t.Errorf("width: %d", got)
	}
	file, err := os.Create(t.TempDir() + "/out")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if got := tablesTo(file).width + tablesTo(new(strings.Builder)).width; got != 0 {
		t.Errorf("width of what is no terminal: %d", got)
	}
}
