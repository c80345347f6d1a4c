package sandbox

import (
	"cmp"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// node is a value in a form: text, or a map, or both if a client sends nonsense. An array is a map keyed by its
// indexes, as in items[0][price]; for expand[]=a&expand[]=b the indexes are counted.
type node struct {
	text string
	kids map[string]*node
}

// parseForm parses a query or body with nested brackets.
func parseForm(raw string) (*node, error) {
	root := &node{}
	for pair := range strings.SplitSeq(raw, "&") {
		if pair == "" {
			continue
		}
		k, v, _ := strings.Cut(pair, "=")
		key, err := url.QueryUnescape(k)
		if err != nil {
			return nil, invalid("", "", "Invalid request (check that your parameters are correctly encoded).")
		}
		value, err := url.QueryUnescape(v)
		if err != nil {
			return nil, invalid("", "", "Invalid request (check that your parameters are correctly encoded).")
		}
		root.set(key, value)
	}
	return root, nil
}

// set puts a value at name[a][b].
func (n *node) set(key, value string) {
	name, rest, nested := strings.Cut(key, "[")
	at := n.kid(name)
	for nested {
		var part string
		part, rest, nested = strings.Cut(rest, "[")
		part = strings.TrimSuffix(part, "]")
		if part == "" {
			part = strconv.Itoa(len(at.kids))
		}
		at = at.kid(part)
	}
	at.text = value
}

func (n *node) kid(name string) *node {
	if n.kids == nil {
		n.kids = map[string]*node{}
	}
	k, ok := n.kids[name]
	if !ok {
		k = &node{}
		n.kids[name] = k
	}
	return k
}

// names returns the keys in order: first numbers by value, then words.
func (n *node) names() []string {
	return slices.SortedFunc(maps.Keys(n.kids), func(a, b string) int {
		x, errX := strconv.Atoi(a)
		y, errY := strconv.Atoi(b)
		if errX == nil && errY == nil {
			return cmp.Compare(x, y)
		}
		return cmp.Compare(a, b)
	})
}

// String returns the form in a canonical order: the fingerprint of a request.
func (n *node) String() string {
	var b strings.Builder
	n.write(&b, "")
	return b.String()
}

func (n *node) write(b *strings.Builder, path string) {
	if len(n.kids) == 0 {
		b.WriteString(path + "=" + url.QueryEscape(n.text) + "&")
		return
	}
	for _, k := range n.names() {
		n.kids[k].write(b, path+"["+k+"]")
	}
}
