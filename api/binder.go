package api

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"lottery/api/problem"
	"lottery/models"
	"lottery/models/secret"
)

// parameter is a query parameter of a path.
type parameter struct {
	name     string
	required bool
	fallback string // the value that omitting it means; "" = none
}

// paging reports whether the parameter may differ between the pages of one walk.
func (p parameter) paging() bool { return p.name == "limit" || p.name == "count" || p.name == "cursor" }

const maxParameters = 12

// binder parses one request's query string and collects everything that is wrong with it.
type binder struct {
	path     []parameter // the parameters of the path
	values   [maxParameters]string
	given    uint16 // bit i: path[i] was sent
	problems []problem.Parameter
	noGame   bool // a game that does not exist is among the problems
	strange  int  // how many problems are about names that this path does not have
	more     int  // how many more such names came after mostStrange
}

// mostStrange is how many unknown names are reported one by one: a query of thousands must not get an answer
// a hundred times as long.
const mostStrange = 10

func (b *binder) reset(path []parameter) {
	*b = binder{path: path, problems: b.problems[:0]}
}

// failf records a problem. Only the first of each parameter is kept; failf reports whether this is the first.
func (b *binder) failf(name string, code problem.ParameterCode, format string, args ...any) bool {
	if b.wrong(name) {
		return false
	}
	b.problems = append(b.problems, problem.Parameter{Parameter: name, Code: code, Detail: fmt.Sprintf(format, args...)})
	return true
}

// wrong reports whether the parameter has a problem already.
func (b *binder) wrong(name string) bool {
	return slices.ContainsFunc(b.problems, func(p problem.Parameter) bool { return p.Parameter == name })
}

// parse splits a raw query string. It allocates only if something is escaped or wrong.
func (b *binder) parse(raw string) {
	for raw != "" {
		var pair string
		pair, raw, _ = strings.Cut(raw, "&")
		if pair == "" {
			continue
		}
		name, value, _ := strings.Cut(pair, "=")
		name, errName := unescape(name)
		value, errValue := unescape(value)
		i := b.index(name)
		switch {
		case i < 0 && b.strange == mostStrange:
			b.more++
		case errName != nil:
			b.stranger(name, problem.Malformed, "the parameter name has an invalid percent-escape")
		case i < 0:
			b.stranger(name, problem.Unknown, "unknown parameter %q%s", short(name), b.suggestion(name))
		case b.given&(1<<i) != 0:
			b.failf(name, problem.Repeated, "%s is given more than once", name)
		case errValue != nil && name != "game": // a malformed game is simply a game that does not exist
			b.given |= 1 << i
			b.failf(name, problem.Malformed, "%s has an invalid percent-escape", name)
		default:
			b.given |= 1 << i
			b.values[i] = value
		}
	}
}

// stranger records a name that this path does not have.
func (b *binder) stranger(name string, code problem.ParameterCode, format string, args ...any) {
	if b.failf(short(name), code, format, args...) {
		b.strange++
	}
}

func unescape(s string) (string, error) {
	if !strings.ContainsAny(s, "%+") {
		return s, nil
	}
	out, err := url.QueryUnescape(s)
	if err != nil {
		return s, err
	}
	return out, nil
}

// short keeps quoted input readable, and does not repeat a key that was put in the wrong place.
func short(s string) string {
	const most = 60
	s = secret.Redacted(s)
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}

func (b *binder) index(name string) int {
	for i := range b.path {
		if b.path[i].name == name {
			return i
		}
	}
	return -1
}

func (b *binder) suggestion(name string) string {
	names := make([]string, len(b.path))
	for i, p := range b.path {
		names[i] = p.name
	}
	if near := models.Nearest(name, names); len(near) > 0 {
		return fmt.Sprintf("; did you mean %q?", near[0])
	}
	if len(names) == 0 {
		return "; this path takes no parameters"
	}
	return "; this path takes " + strings.Join(names, ", ")
}

// text returns a parameter's value, or its fallback if it was not sent; ok is false if there is neither. It is a problem
// if the value is empty, or missing although it is required.
func (b *binder) text(name string) (value string, ok bool) {
	i := b.index(name)
	p := &b.path[i]
	switch {
	case b.given&(1<<i) != 0 && b.values[i] != "":
		return b.values[i], true
	case b.given&(1<<i) == 0 && !p.required:
		return p.fallback, p.fallback != ""
	case b.given&(1<<i) == 0:
		b.failf(name, problem.Missing, "%s is required", name)
	case p.required:
		b.failf(name, problem.Missing, "%s is empty", name)
	default:
		b.failf(name, problem.Malformed, "%s is empty", name)
	}
	return "", false
}

// withDetail adds the detail of another problem to those before it. A question ends its own sentence.
func withDetail(before, detail string) string {
	switch {
	case before == "":
		return detail
	case strings.HasSuffix(before, "?"):
		return before + " " + detail
	default:
		return before + "; " + detail
	}
}

// err returns all problems as one; nil if there are none.
func (b *binder) err() error {
	if len(b.problems) == 0 {
		return nil
	}
	p := &problem.Problem{Code: problem.InvalidParameter, Errors: append([]problem.Parameter(nil), b.problems...)}
	if len(b.problems) == 1 && b.noGame {
		p.Code = problem.UnknownGame
	}
	for _, e := range b.problems {
		p.Detail = withDetail(p.Detail, e.Detail)
	}
	if b.more > 0 {
		p.Detail = withDetail(p.Detail, fmt.Sprintf("and %d more that are unknown", b.more))
	}
	return p
}

// identity hashes the request without its paging: requests of the same identity may share a cursor. A value that was
// sent and the same value as fallback are one identity.
func (b *binder) identity(path string) uint64 {
	h := newHash().text(path)
	for i, p := range b.path {
		switch {
		case p.paging():
		case b.given&(1<<i) != 0:
			h = h.text(b.values[i])
		default:
			h = h.text(p.fallback)
		}
	}
	return uint64(h)
}
