package web

import (
	"encoding/json"
	"fmt"
	"html"
	"html/template"
	"strings"

	"lottery/models"
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
	return record{
		Date: r.Date().String(), Tod: r.Tod().String(), Numbers: strings.Split(number, ""), NumberStr: number,
		Normalized: models.Normalized(number), DigitsSum: models.DigitsSum(number),
		Game: g.ID, GameName: g.Name, GameType: g.Type, Pairs: models.Pairs2DP(number),
	}
}

// listJSON formats a list of draws of one game like a response of the API, indented for people: one field per line.
func listJSON(page catalog.Page, g *catalog.Game) string {
	list := struct {
		Draws []record `json:"draws"`
		Total int      `json:"total"`
		Game  string   `json:"game"`
	}{make([]record, len(page.Refs)), page.Total, g.ID}
	for i, ref := range page.Refs {
		list.Draws[i] = recordOf(ref)
	}
	text, _ := json.MarshalIndent(list, "", "  ") //nolint:errchkjson // strings and numbers only: cannot fail
	return shortLists(string(text))
}

// highlightJSON marks up the names, strings and numbers in JSON for coloring.
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
