package api_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
)

// generated is one request made from the document, and what is known about it.
type generated struct {
	number   int    // with the run's seed, reproduces this request
	template string // the path as in the document; "" = not in it
	method   string
	target   string // path and query, as in the request line
	headers  map[string]string
	remote   string
	key      keyKind

	wrong   bool // a parameter is certainly invalid
	noGame  bool // the game does not exist
	unsure  bool // whether it is valid depends on several parameters together, or on headers
	tooLong bool // the address or a header exceeds the limit
}

func (g *generated) String() string {
	return fmt.Sprintf("request %d: %s %s %v", g.number, g.method, short(g.target), g.headers)
}

// right reports whether every part of g is known to be valid.
func (g *generated) right() bool { return !g.wrong && !g.noGame && !g.unsure && !g.tooLong }

// generator makes requests from a document. It is used by one goroutine.
type generator struct {
	doc     *openapi3.T
	paths   []string
	games   []string
	types   []string
	keys    map[keyKind][]string
	seed    uint64
	rand    *rand.Rand
	etags   []string
	cursors []string // full targets of next pages
}

// next makes request n. Its random choices depend on the seed and n alone; what it takes from earlier answers
// (tags, cursors) does not.
func (m *generator) next(n int) *generated {
	m.rand = rand.New(rand.NewPCG(m.seed, uint64(n)))
	g := &generated{number: n, method: http.MethodGet, headers: map[string]string{}, remote: fmt.Sprintf("192.0.2.%d:%d", m.rand.IntN(256), 1024+m.rand.IntN(60000))}
	if m.chance(20) {
		g.method = m.pick("HEAD", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE", "TRACE", "CONNECT", "PROPFIND", "get", "X")
	}
	m.setHeaders(g)
	switch {
	case m.chance(12) && len(m.cursors) > 0:
		g.target = m.pick(m.cursors...)
		g.template, _, _ = strings.Cut(g.target, "?")
		g.unsure = true
	case m.chance(2):
		g.target, g.unsure = m.strangePath(), true
		if slices.Contains(m.paths, g.target) {
			g.template = g.target
		}
		if strings.HasPrefix(g.target, "/v1/draws/date/2024-02-29%") {
			g.template = "/v1/draws/date/{date}" // with an invalid date
		}
	default:
		m.setTarget(g)
	}
	return g
}

func (m *generator) chance(percent int) bool    { return m.rand.IntN(100) < percent }
func (m *generator) pick(list ...string) string { return list[m.rand.IntN(len(list))] }

// setTarget gives g a path of the document, and parameters.
func (m *generator) setTarget(g *generated) {
	g.template = m.pick(m.paths...)
	if g.template == "/v1/usage" || !strings.HasPrefix(g.template, "/v1/") { // rarer: they take few parameters
		g.template = m.pick(m.paths...)
	}
	path := g.template
	var query []string
	for _, ref := range m.doc.Paths.Value(g.template).Get.Parameters {
		p := ref.Value
		switch p.In {
		case openapi3.ParameterInPath:
			value, ok := m.value(p)
			g.wrong = g.wrong || !ok
			if value == "" {
				g.template, g.unsure = "", true // not a path of the document
			}
			path = strings.ReplaceAll(path, "{"+p.Name+"}", m.escape(value))
		case openapi3.ParameterInQuery:
			query = append(query, m.parameter(g, p)...)
		}
	}
	if m.chance(4) {
		g.wrong = g.wrong || strings.HasPrefix(g.template, "/v1/")
		query = append(query, m.pick("x=1", "Game=ny-win-4", "limit[]=3", "%00=1", "offset=10", "a;b=c", "=", "%zz=1", "game%20=x"))
	}
	if m.chance(1) {
		pad := 8000 + m.rand.IntN(2000)
		query, g.unsure, g.tooLong = append(query, "pad="+strings.Repeat("x", pad)), true, true
	}
	m.rand.Shuffle(len(query), func(i, j int) { query[i], query[j] = query[j], query[i] })
	g.target = path
	if len(query) > 0 || m.chance(1) {
		g.target += "?" + strings.Join(query, m.pick("&", "&", "&", "&&"))
	}
	m.relations(g, query)
}

// relations finds what only the combination of parameters makes right or wrong.
func (m *generator) relations(g *generated, query []string) {
	values, err := url.ParseQuery(strings.Join(query, "&"))
	if err != nil {
		g.unsure = g.unsure || !g.wrong
		return
	}
	from, to := values.Get("from"), values.Get("to")
	if from != "" && to != "" && from > to {
		g.unsure = true // will be refused
	}
	if values.Has("game") && values.Has("game_type") {
		g.unsure = true // the game may be of another type
	}
}

// parameter returns p as it appears in the query: omitted, once, or twice.
func (m *generator) parameter(g *generated, p *openapi3.Parameter) []string {
	if !p.Required && !m.chance(30) {
		return nil
	}
	if p.Required && m.chance(3) {
		g.wrong = true
		return nil
	}
	value, ok := m.value(p)
	if p.Name == "game" && !ok && value != "" {
		g.noGame, ok = true, true
	}
	g.wrong = g.wrong || !ok
	list := []string{p.Name + "=" + m.escape(value)}
	if m.chance(2) {
		g.wrong = true
		list = append(list, p.Name+"="+m.escape(value))
	}
	if m.chance(1) {
		g.wrong, g.unsure = true, true // a malformed game is one that does not exist
		list[0] = p.Name + "=" + m.pick("%", "%zz", "%e", "a%2")
	}
	return list
}

// value returns a value for p, and whether the document allows it.
func (m *generator) value(p *openapi3.Parameter) (value string, ok bool) {
	good := m.chance(88)
	if !good && m.chance(40) {
		v := m.pick("", " ", "null", "undefined", "true", "[]", "{}", "'", "1 OR 1=1", "../../etc/passwd", "\x00", "\xff\xfe", "\u202e1", "１２", "é", "a\nb", "%25", "-1", "1e3", "0x10", strings.Repeat("9", 400), "${7*7}", "<script>")
		return v, m.allows(p, v)
	}
	schema := p.Schema.Value
	switch {
	case p.Name == "game":
		if good {
			return m.pick(m.games...), true
		}
		return m.pick("ny-win-5", "NY-WIN-4", "ny-win-4 ", "ny_win_4", "x", "ny-win-", strings.Repeat("a", 65)), false
	case p.Name == "game_type":
		if good {
			return m.pick(m.types...), true
		}
		return m.pick("pick0", "pick9", "Pick3", "pick", "pick33", "3"), false
	case p.Name == "cursor":
		return m.pick("AQ", "ARUUfHnwVo0tAABPrgUBbnktd2luLTR7bGEV", "====", "-_-_", strings.Repeat("A", 300)), false
	case len(schema.Enum) > 0:
		v := fmt.Sprint(schema.Enum[m.rand.IntN(len(schema.Enum))])
		if !good {
			v = m.pick(strings.ToUpper(v)+"_", v+" ", strings.ToUpper(v[:1])+strings.ToUpper(v[1:]), v[1:], v+","+v)
		}
		return v, m.allows(p, v)
	case schema.Type.Is("integer"):
		return m.integer(p, good)
	case schema.Format == "date":
		return m.date(good)
	default:
		v := m.digits(m.rand.IntN(12))
		if good {
			v = m.digits(2 + m.rand.IntN(4))
			if !m.allows(p, v) {
				v = m.digits(2)
			}
		}
		return v, m.allows(p, v)
	}
}

func (m *generator) digits(n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte('0' + m.rand.IntN(10))
	}
	return string(b)
}

func (m *generator) integer(p *openapi3.Parameter, good bool) (string, bool) {
	low, high := int(*p.Schema.Value.Min), int(*p.Schema.Value.Max)
	switch {
	case !good:
		v := m.pick(strconv.Itoa(low-1), strconv.Itoa(high+1), "9223372036854775808", "1.5", "ten", "1 2", "-0x1", "1,000", strconv.Itoa(high)+"0")
		return v, false
	case m.chance(30):
		return strconv.Itoa([]int{low, high}[m.rand.IntN(2)]), true
	case p.Name == "year":
		return strconv.Itoa(2022 + m.rand.IntN(4)), true
	default:
		return strconv.Itoa(low + m.rand.IntN(min(high-low, 100)+1)), true
	}
}

func (m *generator) date(good bool) (string, bool) {
	if !good {
		return m.pick("2023-02-29", "2024-13-01", "2024-00-10", "2024-1-1", "20240229", "29.02.2024", "2024-02-30", "yesterday", "0000-00-00", "2024-02-29T00:00:00Z", "24-02-29"), false
	}
	day := time.Date(2022, 12, 1, 0, 0, 0, 0, time.UTC).AddDate(0, 0, m.rand.IntN(800))
	if m.chance(10) {
		day = time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC).AddDate(0, 0, m.rand.IntN(20000))
	}
	return day.Format(time.DateOnly), true
}

// allows asks the document. It does not judge integers, which have their own generator: some parsers take 1e3 for one.
func (m *generator) allows(p *openapi3.Parameter, v string) bool {
	s := p.Schema.Value
	switch {
	case v == "" || s.Type.Is("integer") || p.Name == "cursor":
		return false
	case s.Format == "date":
		_, err := time.Parse(time.DateOnly, v)
		return err == nil
	case p.Name == "game":
		return slices.Contains(m.games, v)
	case p.Name == "game_type":
		return slices.Contains(m.types, v)
	case len(s.Enum) > 0:
		return slices.Contains(s.Enum, any(v))
	default:
		return s.Pattern == "" || regexp.MustCompile(s.Pattern).MatchString(v) && !strings.Contains(v, "\n")
	}
}

// escape writes v in one of several equivalent ways.
func (m *generator) escape(v string) string {
	if m.chance(90) {
		return url.PathEscape(v)
	}
	var b strings.Builder
	for i := range len(v) {
		fmt.Fprintf(&b, m.pick("%%%02x", "%%%02X"), v[i])
	}
	return b.String()
}

func (m *generator) strangePath() string {
	path := strings.ReplaceAll(m.pick(m.paths...), "{date}", "2024-02-29")
	return m.pick(path+"/", "/"+path, strings.ToUpper(path), path+"/x", strings.Replace(path, "/v1", "/v2", 1), path+"%00", path+"%2F", path+"/..", "/v1/../healthz",
		"/", "/v1", "/v1/", "//", "/%2e%2e/", "/v1/draws/date/", "/v1/draws/date/2024-02-29/x", "/.env", "/metrics", "/debug/pprof/", "*")
}
