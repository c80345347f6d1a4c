package sandbox

import (
	"net/url"
	"sort"
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
	names := make([]string, 0, len(n.kids))
	for k := range n.kids {
		names = append(names, k)
	}
	sort.Slice(names, func(i, j int) bool {
		a, errA := strconv.Atoi(names[i])
		b, errB := strconv.Atoi(names[j])
		if errA == nil && errB == nil {
			return a < b
		}
		return names[i] < names[j]
	})
	return names
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
