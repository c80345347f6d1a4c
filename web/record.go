package web

import (
	"encoding/json"
	"fmt"
	"html"
	"html/template"
	"slices"
	"strings"

	"lottery/models/catalog"
)

// record is a draw as the API writes it; a test compares it with the API's own output.
type record struct {
	Date       string   `json:"date"`
	Tod        string   `json:"tod"`
	Numbers    []string `json:"numbers"`
	NumberStr  string   `json:"number_str"`
	Normalized string   `json:"normalized"`
	DigitsSum  int      `json:"digits_sum"`
	Game       string   `json:"game"`
	GameName   string   `json:"game_name"`
	GameType   string   `json:"game_type"`
	Pairs      []string `json:"pairs_2dp"`
}

// numberOf returns the digits of a draw in the order drawn.
func numberOf(r catalog.Ref) string { return fmt.Sprintf("%0*d", r.Game().Digits, r.Number()) }

func recordOf(r catalog.Ref) record {
	g, number := r.Game(), numberOf(r)
	sorted := []byte(number)
	slices.Sort(sorted)
	out := record{
		Date: r.Date().String(), Tod: r.Tod().String(), Numbers: strings.Split(number, ""), NumberStr: number, Normalized: string(sorted),
		Game: g.ID, GameName: g.Name, GameType: g.Type, Pairs: []string{},
	}
	for i, a := range sorted {
		out.DigitsSum += int(a - '0')
		for _, b := range sorted[i+1:] {
			out.Pairs = append(out.Pairs, string([]byte{a, b}))
		}
	}
	slices.Sort(out.Pairs)
	out.Pairs = slices.Compact(out.Pairs)
	return out
}

// listJSON formats a list of draws of one game like a response of the API, indented for people: one field per line.
func listJSON(page catalog.Page, g *catalog.Game) string {
	var b strings.Builder
	b.WriteString("{\n  \"draws\": [")
	for i, ref := range page.Refs {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString("\n    {")
		writeFields(&b, recordOf(ref), "\n      ")
		b.WriteString("\n    }")
	}
	fmt.Fprintf(&b, "\n  ],\n  \"total\": %d,\n  \"game\": %q\n}", page.Total, g.ID)
	return b.String()
}

func writeFields(b *strings.Builder, r record, indent string) {
	for i, f := range []struct {
		name  string
		value any
	}{
		{"date", r.Date}, {"tod", r.Tod}, {"numbers", r.Numbers}, {"number_str", r.NumberStr}, {"normalized", r.Normalized},
		{"digits_sum", r.DigitsSum}, {"game", r.Game}, {"game_name", r.GameName}, {"game_type", r.GameType}, {"pairs_2dp", r.Pairs},
	} {
		if i > 0 {
			b.WriteByte(',')
		}
		text, err := json.Marshal(f.value)
		if err != nil { // strings and numbers only: cannot happen
			text = []byte("null")
		}
		fmt.Fprintf(b, "%s%q: %s", indent, f.name, strings.ReplaceAll(string(text), `","`, `", "`))
	}
}

// highlightJSON marks up the names, strings and numbers in JSON for colouring.
func highlightJSON(text string) template.HTML {
	var b strings.Builder
	for i := 0; i < len(text); {
		switch c := text[i]; {
		case c == '"':
			end := i + 1
			for end < len(text) && text[end] != '"' {
				if text[end] == '\\' {
					end++
				}
				end++
			}
			end = min(end+1, len(text))
			class := "s"
			if end < len(text) && text[end] == ':' {
				class = "k"
			}
			fmt.Fprintf(&b, `<span class="%s">%s</span>`, class, html.EscapeString(text[i:end]))
			i = end
		case c >= '0' && c <= '9', c == '-':
			end := i + 1
			for end < len(text) && strings.IndexByte("0123456789.eE+-", text[end]) >= 0 {
				end++
			}
			fmt.Fprintf(&b, `<span class="n">%s</span>`, text[i:end])
			i = end
		default:
			b.WriteString(html.EscapeString(text[i : i+1]))
			i++
		}
	}
	return template.HTML(b.String()) //nolint:gosec // G203: every piece of text is escaped above
}
