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

// A path's parameters, by name, with the value that leaving one out means. That makes an explicit default and
// an absent parameter the same request, which cursors rely on.
type parameter struct {
	name     string
	fallback string
}

// paging parameters may differ between the pages of one walk.
func (p parameter) paging() bool { return p.name == "limit" || p.name == "count" || p.name == "cursor" }

const maxParameters = 12

// binder reads one request's query string and gathers everything that is wrong with it.
type binder struct {
	path     []parameter // what the path knows
	values   [maxParameters]string
	given    uint16 // bit i: path[i] was sent
	problems []problem.Parameter
	noGame   bool // a game that does not exist is among the problems
	strange  int  // how many names that this path does not know are among the problems
	more     int  // and how many came after them
}

// mostStrange is how many names that a path does not know are told one by one: a query of thousands must not make an
// answer that is a hundred times as long.
const mostStrange = 10

func (b *binder) reset(path []parameter) {
	*b = binder{path: path, problems: b.problems[:0]}
}

// failf records a problem; of one parameter only the first counts, and false says that this is a later one.
func (b *binder) failf(name string, code problem.ParameterCode, format string, args ...any) bool {
	if b.wrong(name) {
		return false
	}
	b.problems = append(b.problems, problem.Parameter{Parameter: name, Code: code, Detail: fmt.Sprintf(format, args...)})
	return true
}

// wrong says whether there is a problem of that parameter already.
func (b *binder) wrong(name string) bool {
	return slices.ContainsFunc(b.problems, func(p problem.Parameter) bool { return p.Parameter == name })
}

// parse splits a raw query string. It allocates only where something is escaped or wrong.
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
		case errValue != nil && name != "game": // a game, however malformed, is one that does not exist
			b.given |= 1 << i
			b.failf(name, problem.Malformed, "%s has an invalid percent-escape", name)
		default:
			b.given |= 1 << i
			b.values[i] = value
		}
	}
}

// stranger records a name that this path does not know.
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

// short keeps what is quoted back readable, and a key that was put in the wrong place to itself.
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

// text is a parameter's value. Sent but empty is a problem; not sent is one if it is required.
func (b *binder) text(name string, required bool) (value string, ok bool) {
	i := b.index(name)
	if i < 0 || b.given&(1<<i) == 0 {
		if required {
			b.failf(name, problem.Missing, "%s is required", name)
		}
		return "", false
	}
	if b.values[i] == "" {
		code := problem.Malformed
		if required {
			code = problem.Missing
		}
		b.failf(name, code, "%s is empty", name)
		return "", false
	}
	return b.values[i], true
}

// err is everything that is wrong, as one problem; nil if nothing is.
func (b *binder) err() error {
	if len(b.problems) == 0 {
		return nil
	}
	p := &problem.Problem{Code: problem.InvalidParameter, Errors: append([]problem.Parameter(nil), b.problems...)}
	if len(b.problems) == 1 && b.noGame {
		p.Code = problem.UnknownGame
	}
	details := make([]string, len(b.problems))
	for i, e := range b.problems {
		details[i] = e.Detail
	}
	p.Detail = strings.Join(details, "; ")
	if b.more > 0 {
		p.Detail += fmt.Sprintf("; and %d more that are unknown", b.more)
	}
	return p
}

// identity names the request in everything but its paging: two requests of one identity may share a cursor.
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
