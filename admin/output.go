package admin

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unicode"
)

// The forms of a result.
const (
	formTable = "table"
	formJSON  = "json"
	formCSV   = "csv"
)

// result prints a command's single result: a struct, or a slice of structs. Its fields hold strings, numbers, booleans,
// pointers to them (nil = absent), lists of strings, further structs and slices of them; the JSON tags name them in all
// three forms.
func (t *tool) result(v any) error {
	var err error
	switch t.form {
	case formJSON:
		err = writeJSON(t.env.Stdout, v)
	case formCSV:
		err = writeCSV(t.env.Stdout, v)
	default:
		err = tablesTo(t.env.Stdout).write(v)
	}
	if err != nil {
		return fmt.Errorf("print the result: %w", err)
	}
	return nil
}

// finish prints the result of a command that ends with outcome, and returns outcome even if nobody reads the result.
func (t *tool) finish(v any, outcome error) error {
	if err := t.result(v); err != nil && (outcome == nil || !readerGone(err)) {
		return err
	}
	return outcome
}

// readerGone reports whether the only error is that the result's reader has left, as in `| head`. The command has done
// its work, and the reader needs no message.
func readerGone(err error) bool {
	for err != nil && err != error(syscall.EPIPE) { //nolint:errorlint // a joined error counts, too
		if many, ok := err.(interface{ Unwrap() []error }); ok {
			return !slices.ContainsFunc(many.Unwrap(), func(one error) bool { return !readerGone(one) })
		}
		err = errors.Unwrap(err)
	}
	return err != nil
}

func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// writeCSV writes RFC 4180 with LF: a header of the JSON keys, and one row per object. Lists of strings are joined by
// commas; a value without a flat form becomes JSON in its cell. Strings are made inert; numbers, negative ones too,
// stay as they are.
func writeCSV(w io.Writer, v any) error {
	rows, keys := rowsOf(v)
	out := csv.NewWriter(w)
	if err := out.Write(keys); err != nil {
		return err
	}
	for _, row := range rows {
		cells := make([]string, len(row))
		for i, f := range row {
			cells[i] = f.text()
			switch kind := f.kind(); {
			case (kind == reflect.Struct || kind == reflect.Map) && !f.absent(): // it has no flat form
				b, err := json.Marshal(f.value.Interface())
				if err != nil {
					return err
				}
				cells[i] = string(b)
			case kind == reflect.String:
				cells[i] = inert(cells[i])
			}
		}
		if err := out.Write(cells); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// inert returns a text that no spreadsheet takes for a formula: addresses and key names are strangers' words, and
// =HYPERLINK(…) could send away the cells next to it. The text gets a ' in front, which marks text in spreadsheets. So
// does one that already begins with ', so that a script can always restore the text by removing one.
// https://owasp.org/www-community/attacks/CSV_Injection
func inert(text string) string {
	if strings.IndexAny(text, "=+-@\t\r\n＝＋－＠'") == 0 {
		return "'" + text
	}
	return text
}

// field is one field of an object.
type field struct {
	key      string
	value    reflect.Value
	optional bool // omitted if empty in a single object; in a list, all objects have the same fields
}

// rowsOf splits a struct or a slice of structs into fields. keys is set even if there are no rows.
func rowsOf(v any) (rows [][]field, keys []string) {
	value := reflect.Indirect(reflect.ValueOf(v))
	if value.Kind() == reflect.Struct {
		row := slices.DeleteFunc(fieldsOf(value), func(f field) bool { return f.optional && f.value.IsZero() })
		return [][]field{row}, keysOf(row)
	}
	for i := range value.Len() {
		rows = append(rows, fieldsOf(value.Index(i)))
	}
	return rows, keysOf(fieldsOf(reflect.Zero(value.Type().Elem())))
}

func keysOf(row []field) []string {
	keys := make([]string, len(row))
	for i, f := range row {
		keys[i] = f.key
	}
	return keys
}

// fieldsOf lists a struct's fields as encoding/json does, embedded ones in their place.
func fieldsOf(value reflect.Value) []field {
	var list []field
	for i := range value.NumField() {
		f := value.Type().Field(i)
		if f.Anonymous {
			list = append(list, fieldsOf(value.Field(i))...)
			continue
		}
		key, option, _ := strings.Cut(f.Tag.Get("json"), ",")
		list = append(list, field{key, value.Field(i), option == "omitempty"})
	}
	return list
}

// kind returns what f is, or a list of, or a pointer to.
func (f field) kind() reflect.Kind {
	t := f.value.Type()
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	return t.Kind()
}

// absent reports whether f has no value.
func (f field) absent() bool { return f.value.Kind() == reflect.Pointer && f.value.IsNil() }

// text returns f's flat form; "" if it has no value.
func (f field) text() string {
	if f.absent() {
		return ""
	}
	v := reflect.Indirect(f.value)
	switch v.Kind() {
	case reflect.Slice:
		parts := make([]string, v.Len())
		for i := range parts {
			parts[i] = fmt.Sprint(v.Index(i).Interface())
		}
		if slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(part, " ") }) {
			return strings.Join(parts, "; ") // sentences
		}
		return strings.Join(parts, ",")
	case reflect.Map:
		parts := make([]string, 0, v.Len())
		for _, key := range v.MapKeys() {
			parts = append(parts, fmt.Sprintf("%v %v", key, v.MapIndex(key)))
		}
		slices.Sort(parts)
		return strings.Join(parts, ", ")
	default:
		return fmt.Sprint(v.Interface())
	}
}

// stamp formats a time as JSON shows it: RFC 3339 in UTC, whole seconds.
func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// stampOf is stamp for a time that may be absent.
func stampOf(t *time.Time) *string {
	if t == nil {
		return nil
	}
	return new(stamp(*t))
}

// listOf converts a list; an empty one is [] in JSON, not null.
func listOf[F, T any](from []F, one func(*F) T) []T {
	list := make([]T, 0, len(from))
	for i := range from {
		list = append(list, one(&from[i]))
	}
	return list
}

// textOf returns nil for an empty string, which is how the database stores an absent text.
func textOf(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// clean makes text safe to display: it escapes whatever a terminal would act on, except newlines. What is no UTF-8
// becomes U+FFFD: a byte 0xff would end a table's columns (text/tabwriter).
func clean(text string) string {
	var b strings.Builder
	for _, r := range text {
		if steers(r) {
			b.WriteString(strings.Trim(strconv.QuoteRune(r), "'"))
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// steers reports whether a terminal would act on r: control characters, and those that reorder text.
func steers(r rune) bool {
	return r != '\n' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r))
}
