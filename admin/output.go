package admin

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"sort"
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

// result prints the one result of a command: a struct, or a slice of structs. Its fields hold text, numbers,
// truth values, pointers to them (nil = absent), lists of text, further structs and slices of them; the JSON tags
// name them in all three forms.
func (t *tool) result(v any) error {
	var err error
	switch t.form {
	case formJSON:
		err = writeJSON(t.env.Stdout, v)
	case formCSV:
		err = writeCSV(t.env.Stdout, v)
	default:
		err = writeTable(t.env.Stdout, v)
	}
	if err != nil {
		return fmt.Errorf("print the result: %w", err)
	}
	return nil
}

// finish prints the result of a command that ends with outcome, which is told also where nobody reads the result.
func (t *tool) finish(v any, outcome error) error {
	if err := t.result(v); err != nil && (outcome == nil || !readerGone(err)) {
		return err
	}
	return outcome
}

// readerGone tells whether all that went wrong is that nobody reads the result to its end, as behind | head. The command has
// done its work, and whoever left needs no message.
func readerGone(err error) bool {
	for err != nil && err != error(syscall.EPIPE) { //nolint:errorlint // what stands beside it counts, too
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

// writeCSV writes RFC 4180 with LF: a header of the JSON keys, and a row for each object. Lists of text are joined
// by commas; what has no flat form is JSON in its cell. Texts are made inert; numbers stay, those below zero too.
func writeCSV(w io.Writer, v any) error {
	rows, keys := rowsOf(v)
	out := csv.NewWriter(w)
	if err := out.Write(keys); err != nil {
		return err
	}
	for _, row := range rows {
		cells := make([]string, len(row))
		for i, f := range row {
			cells[i] = f.text("")
			switch {
			case f.nested() && !f.absent():
				b, err := json.Marshal(f.value.Interface())
				if err != nil {
					return err
				}
				cells[i] = string(b)
			case f.texts():
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

// inert is a text that no spreadsheet takes for a formula: addresses and names of keys are strangers' words, and
// =HYPERLINK(…) would send away what stands beside it. It gets a ' in front, by which spreadsheets know text; so does
// what begins with one, so that a script has the text back by taking one away.
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
	optional bool // left out where it is empty, of a single object; the objects of a list all have the same fields
}

// rowsOf takes a struct or a slice of structs apart. keys are there even if no row is.
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

// fieldsOf lists a struct's fields as encoding/json does: embedded ones in their place.
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

// nested tells whether f has no flat form: it holds objects.
func (f field) nested() bool {
	t := f.value.Type()
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	return t.Kind() == reflect.Struct || t.Kind() == reflect.Map
}

// texts tells whether f is a text, or a list of them.
func (f field) texts() bool {
	t := f.value.Type()
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	return t.Kind() == reflect.String
}

// absent tells whether f has no value.
func (f field) absent() bool { return f.value.Kind() == reflect.Pointer && f.value.IsNil() }

// text is f's flat form; absent stands for nil.
func (f field) text(absent string) string {
	if f.absent() {
		return absent
	}
	v := reflect.Indirect(f.value)
	switch v.Kind() {
	case reflect.Slice:
		parts := make([]string, v.Len())
		for i := range parts {
			parts[i] = fmt.Sprint(v.Index(i).Interface())
		}
		return strings.Join(parts, ",")
	case reflect.Map:
		parts := make([]string, 0, v.Len())
		for _, key := range v.MapKeys() {
			parts = append(parts, fmt.Sprintf("%v %v", key, v.MapIndex(key)))
		}
		sort.Strings(parts)
		return strings.Join(parts, ", ")
	default:
		return fmt.Sprint(v.Interface())
	}
}

// stamp is a time as JSON shows it: RFC 3339 in UTC, whole seconds.
func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// stampOf is stamp of a time that may be absent.
func stampOf(t *time.Time) *string {
	if t == nil {
		return nil
	}
	s := stamp(*t)
	return &s
}

// textOf is a text that may be absent, which the database holds as an empty one.
func textOf(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// clean makes text safe to show: what would steer a terminal is shown as an escape instead. Newlines stay.
func clean(text string) string {
	if strings.IndexFunc(text, steers) < 0 {
		return text
	}
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

// steers tells whether a terminal would act on r: control characters, and those that reorder text.
func steers(r rune) bool {
	return r != '\n' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r))
}
