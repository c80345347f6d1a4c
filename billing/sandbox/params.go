package sandbox

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

// params reads a request's parameters. It keeps the first mistake, which finish returns; finish also finds parameters
// that were never read. So a handler reads everything, calls finish, and only then changes anything.
type params struct {
	*node

	path string
	read map[string]bool
	subs []*params
	top  *params
	err  error
}

func newParams(n *node) *params {
	p := &params{node: n, read: map[string]bool{}}
	p.top = p
	return p
}

func (p *params) name(key string) string {
	if p.path == "" {
		return key
	}
	return p.path + "[" + key + "]"
}

func (p *params) fail(err error) {
	if p.top.err == nil {
		p.top.err = err
	}
}

func (p *params) get(key string) (*node, bool) {
	p.read[key] = true
	n, ok := p.kids[key]
	return n, ok
}

// opt returns a string and whether it was sent; an empty one means "unset".
func (p *params) opt(key string) (string, bool) {
	n, ok := p.get(key)
	if !ok {
		return "", false
	}
	if len(n.kids) > 0 {
		p.fail(invalid(p.name(key), "", "Invalid string: %s", p.name(key)))
	}
	return n.text, true
}

func (p *params) str(key string) string {
	v, _ := p.opt(key)
	return v
}

// set changes a string if it was sent.
func (p *params) set(key string, to *string) {
	if v, ok := p.opt(key); ok {
		*to = v
	}
}

// need returns a string that is required.
func (p *params) need(key string) string {
	v, ok := p.opt(key)
	switch {
	case !ok:
		p.fail(invalid(p.name(key), "parameter_missing", "Missing required param: %s.", p.name(key)))
	case v == "":
		p.fail(invalid(p.name(key), "parameter_invalid_empty", "You passed an empty string for '%s'. We assume empty values are an attempt to unset a parameter; however '%s' cannot be unset. You should remove '%s' from your request or supply a non-empty value.", p.name(key), p.name(key), p.name(key)))
	}
	return v
}

// enum returns one of values, the first if the parameter was not sent.
func (p *params) enum(key string, values ...string) string {
	v, ok := p.opt(key)
	if !ok {
		return values[0]
	}
	if !slices.Contains(values, v) {
		p.fail(invalid(p.name(key), "", "Invalid %s: must be one of %s", p.name(key), strings.TrimPrefix(strings.Join(values, ", "), ", ")))
	}
	return v
}

func (p *params) int(key string) (int64, bool) {
	v, ok := p.opt(key)
	if !ok || v == "" {
		return 0, false
	}
	n, err := strconv.ParseInt(v, 10, 64)
	if err != nil {
		p.fail(invalid(p.name(key), "parameter_invalid_integer", "Invalid integer: %s", v))
	}
	return n, true
}

func (p *params) bool(key string) (value, ok bool) {
	v, ok := p.opt(key)
	if !ok {
		return false, false
	}
	if v != "true" && v != "false" {
		p.fail(invalid(p.name(key), "", "Invalid boolean: %s", v))
	}
	return v == "true", true
}

// sub returns a nested hash, nil if it was not sent.
func (p *params) sub(key string) *params {
	n, ok := p.get(key)
	if !ok {
		return nil
	}
	if len(n.kids) == 0 && n.text != "" {
		p.fail(invalid(p.name(key), "", "Invalid hash"))
	}
	return p.nest(key, n)
}

func (p *params) nest(key string, n *node) *params {
	for _, q := range p.subs {
		if q.node == n {
			return q // read before
		}
	}
	q := &params{node: n, path: p.name(key), read: map[string]bool{}, top: p.top}
	p.subs = append(p.subs, q)
	return q
}

// list returns an array of hashes.
func (p *params) list(key string) []*params {
	arr := p.sub(key)
	if arr == nil {
		return nil
	}
	var out []*params
	for _, k := range arr.names() {
		arr.read[k] = true
		out = append(out, arr.nest(k, arr.kids[k]))
	}
	return out
}

// strs returns an array of strings, and whether it was sent.
func (p *params) strs(key string) ([]string, bool) {
	arr := p.sub(key)
	if arr == nil {
		return nil, false
	}
	out := []string{}
	for _, k := range arr.names() {
		out = append(out, arr.str(k))
	}
	return out, true
}

// metadata returns m changed as Stripe does: an empty value removes a key, an empty string for the whole removes all.
func (p *params) metadata(m map[string]string) map[string]string {
	q := p.sub("metadata")
	if q == nil {
		return m
	}
	out := map[string]string{}
	if len(q.kids) > 0 {
		maps.Copy(out, m)
	}
	for _, k := range q.names() {
		if v := q.str(k); v == "" {
			delete(out, k)
		} else {
			out[k] = v
		}
	}
	if len(out) > 50 {
		p.fail(invalid("metadata", "", "Metadata can have at most 50 keys."))
	}
	return out
}

// finish returns the first mistake, or an error about the first unknown parameter.
func (p *params) finish() error {
	if p.top.err != nil {
		return p.top.err
	}
	for _, k := range p.names() {
		if !p.read[k] {
			return invalid(p.name(k), "parameter_unknown", "Received unknown parameter: %s", p.name(k))
		}
	}
	for _, q := range p.subs {
		if err := q.finish(); err != nil {
			return err
		}
	}
	return nil
}
