package nyopendata

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"lottery/jobs/feed"
	"lottery/models"
)

// parseJSON reads a SODA response: an array of records, streamed token by token. A record's line is that of its opening
// brace. Text after a broken token cannot be trusted, so truncated JSON makes the file unusable.
func parseJSON(f feed.Form, r *bufio.Reader, yield func(*feed.Candidate) error) (int, error) {
	in := &positions{r: r}
	dec := json.NewDecoder(in)
	dec.UseNumber()
	p := jsonParser{form: f, dec: dec, in: in, yield: yield}
	if err := p.document(); err != nil {
		if isSyntax(err) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return in.count(), models.Errorf(models.CodeInvalid, "the JSON is broken or ends early at line %d: fetch the file again", in.lineBefore(dec.InputOffset()))
		}
		return in.count(), err
	}
	return in.count(), nil
}

func isSyntax(err error) bool {
	_, ok := errors.AsType[*json.SyntaxError](err)
	return ok
}

type jsonParser struct {
	form  feed.Form
	dec   *json.Decoder
	in    *positions
	yield func(*feed.Candidate) error
	c     feed.Candidate
}

func (p *jsonParser) document() error {
	first, err := p.dec.Token()
	if err != nil {
		return err
	}
	if first == json.Delim('{') {
		return p.refusal()
	}
	for p.dec.More() {
		if err := p.element(); err != nil {
			return err
		}
	}
	if _, err := p.dec.Token(); err != nil { // the closing bracket
		return err
	}
	switch _, err := p.dec.Token(); {
	case errors.Is(err, io.EOF):
		return nil
	case err == nil, isSyntax(err):
		return models.Errorf(models.CodeInvalid, "something follows the end of the JSON array: expected %s", p.form.Expected)
	default:
		return err
	}
}

// refusal returns the error for the object that Socrata sends instead of records.
func (p *jsonParser) refusal() error {
	said, _, err := p.object()
	if err != nil {
		return err
	}
	if message := said["message"]; message.text != "" {
		return models.Errorf(models.CodeInvalid, "data.ny.gov answered %q instead of records", feed.Shown(message.text))
	}
	return models.Errorf(models.CodeInvalid, "it is a JSON object, not an array: expected %s", p.form.Expected)
}

// element reads one element of the array.
func (p *jsonParser) element() error {
	token, err := p.dec.Token()
	if err != nil {
		return err
	}
	line := p.in.lineBefore(p.dec.InputOffset())
	if token != json.Delim('{') {
		shown := "null"
		if token != nil {
			shown = fmt.Sprint(token)
		}
		if err := p.skip(token); err != nil {
			return err
		}
		p.c.Reset(line, shown)
		p.c.FailRow("an element of the array is not a record")
		return p.yield(&p.c)
	}
	record, twice, err := p.object()
	if err != nil {
		return err
	}
	for _, folded := range slices.Sorted(maps.Keys(record)) {
		if v := record[folded]; !knownKeys[folded] && !strings.HasPrefix(folded, systemPrefix) {
			p.form.Ignore(v.cell(v.key))
		}
	}
	date := record[dateColumn].cell("draw_date")
	row := make([]cells, 0, len(slots))
	for _, s := range slots {
		number, booster := record[s.column], record[s.column+"booster"]
		at := cells{
			slot: s, number: number.cell(s.key), sum: record[s.column+"sum"].cell(s.key + "_sum"), booster: booster.cell(s.key + "_booster"),
		}
		if at.fault, at.faulty = number.fault, at.number; at.fault == "" {
			at.fault, at.faulty = booster.fault, at.booster
		}
		row = append(row, at)
	}
	if twice != "" { // two records may have become one
		p.c.Reset(line, raw(date, row))
		p.c.FailRow(fmt.Sprintf("the record has %q twice", feed.Shown(twice)))
		return p.yield(&p.c)
	}
	return yieldRow(&p.c, line, raw(date, row), date, row, p.yield)
}

// systemPrefix begins the names of Socrata's own fields (:id, :updated_at), which are ignored deliberately.
// https://dev.socrata.com/docs/system-fields.html
const systemPrefix = ":"

// knownKeys holds the folded keys that are read.
var knownKeys = func() map[string]bool {
	keys := map[string]bool{dateColumn: true}
	for _, s := range slots {
		keys[s.column], keys[s.column+"sum"], keys[s.column+"booster"] = true, true, true
	}
	return keys
}()

// value is one value of a record, as text.
type value struct {
	key   string // as published
	text  string
	fault string // set if it is not a string, number or null
}

func (v value) cell(column string) feed.Cell { return feed.Cell{Column: column, Value: v.text} }

// object reads the members after an opening brace, by folded key; null becomes blank. twice is the first known key that
// occurs twice, "" if none does.
func (p *jsonParser) object() (members map[string]value, twice string, err error) {
	members = make(map[string]value, 16)
	for p.dec.More() {
		key, err := p.dec.Token()
		if err != nil {
			return nil, "", err
		}
		token, err := p.dec.Token()
		if err != nil {
			return nil, "", err
		}
		name, _ := key.(string)
		v := value{key: name}
		switch t := token.(type) {
		case string:
			v.text = t
		case json.Number:
			v.text = t.String()
		case nil:
		default:
			v.text, v.fault = fmt.Sprint(t), "the value is neither text nor a number"
			if err := p.skip(token); err != nil {
				return nil, "", err
			}
		}
		folded := feed.FoldName(name)
		if _, known := members[folded]; known && knownKeys[folded] && twice == "" {
			twice = name
		}
		members[folded] = v
	}
	_, err = p.dec.Token() // the closing brace
	return members, twice, err
}

// skip reads to the end of the array or object that token opens.
func (p *jsonParser) skip(token json.Token) error {
	for depth := 0; ; {
		switch token {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
		if depth == 0 {
			return nil
		}
		var err error
		if token, err = p.dec.Token(); err != nil {
			return err
		}
	}
}

// raw returns the relevant fields of a record, for a report.
func raw(date feed.Cell, row []cells) string {
	fields := append(make([]string, 0, 1+len(row)), date.Value)
	for _, at := range row {
		fields = append(fields, at.number.Value)
	}
	return strings.Join(fields, ",")
}
