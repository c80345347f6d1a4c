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

// On a terminal, prose continues within its column, words are not broken, and a table that does not fit even so becomes a
// block for each row. For a program, each row is one line.
func TestTableWidth(t *testing.T) {
	t.Parallel()
	const wide = `ID                         NAME   FOUND                                                      REMEDY
key_hs1g9ZTS907brGKaYqNZ   東京   the mail server does not answer, and has not for an hour   make sure that it is running
key_2                      b      ok                                                         -
`
	for width, want := range map[int]string{
		0: wide, 200: wide, 121: wide,
		80: `ID                         NAME   FOUND                   REMEDY
key_hs1g9ZTS907brGKaYqNZ   東京   the mail server does    make sure that it is
                                  not answer, and has     running
                                  not for an hour
key_2                      b      ok                      -
`,
		45: `ID       key_hs1g9ZTS907brGKaYqNZ
NAME     東京
FOUND    the mail server does not answer, and
         has not for an hour
REMEDY   make sure that it is running

ID       key_2
NAME     b
FOUND    ok
REMEDY   -
`,
		// Words stay whole, even if nothing fits.
		20: `ID       key_hs1g9ZTS907brGKaYqNZ
NAME     東京
FOUND    the mail server does not answer, and has not for an hour
REMEDY   make sure that it is running

ID       key_2
NAME     b
FOUND    ok
REMEDY   -
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
	short := []struct {
		Day string `json:"day"`
		N   int    `json:"n"`
	}{{"2026-11-28", 1}, {"2026-11-27", 0}}
	var days bytes.Buffer
	if err := (tables{&days, 40}).write(short); err != nil || days.String() != "DAY          N\n2026-11-28   1\n2026-11-27   0\n" {
		t.Errorf("a list that fits: %v\n%s", err, &days)
	}
	var b bytes.Buffer
	if err := (tables{&b, 17}).write([]checked{}); err != nil || b.String() != "ID   NAME   FOUND\nREMEDY\n" {
		t.Errorf("an empty list: %v\n%s", err, &b)
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
