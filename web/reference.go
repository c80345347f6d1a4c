package web

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"html/template"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	"lottery/api/openapi"
)

// referenceGroup is a part of the API, as its contract describes it.
type referenceGroup struct {
	Name       string
	Operations []operation
}

// operation is the GET of one path.
type operation struct {
	ID, Path, Summary string
	Text              template.HTML
	Parameters        []parameter
	Fields            []field
	Responses         []response
	Example           template.HTML
	Open              bool // no key needed
}

type parameter struct {
	Name, In, Type, Default string
	Required                bool
	Text                    template.HTML
	Enum                    []string
}

type response struct {
	Status string
	Text   template.HTML
	Code   string // error code, if it has one that the text does not name
}

// linkCodes makes the error codes in a text links to their pages.
func linkCodes(text template.HTML) template.HTML {
	var pairs []string
	for code := range errorTexts {
		pairs = append(pairs, "<code>"+string(code)+"</code>", codeLink(string(code)))
	}
	return template.HTML(strings.NewReplacer(pairs...).Replace(string(text))) //nolint:gosec // G203: it was HTML before
}

func codeLink(code string) string {
	return `<a href="/docs/errors/` + code + `"><code>` + code + `</code></a>`
}

// loadReference returns all groups of openapi.yaml.
func loadReference(publicURL string) ([]referenceGroup, error) {
	text := bytes.ReplaceAll(openapi.YAML(), []byte("http://localhost:8080"), []byte(publicURL))
	doc, err := openapi3.NewLoader().LoadFromData(text)
	if err != nil {
		return nil, fmt.Errorf("openapi.yaml: %w", err)
	}
	examples, err := readExamples(publicURL)
	if err != nil {
		return nil, err
	}
	var groups []referenceGroup
	for _, tag := range doc.Tags {
		group := referenceGroup{Name: titled(tag.Name)}
		for path, item := range doc.Paths.Map() {
			if item.Get == nil || !slices.Contains(item.Get.Tags, tag.Name) {
				continue
			}
			op, err := readOperation(path, item)
			if err != nil {
				return nil, fmt.Errorf("openapi.yaml, %s: %w", path, err)
			}
			op.Example = exampleOf(examples[path])
			group.Operations = append(group.Operations, op)
		}
		slices.SortFunc(group.Operations, func(a, b operation) int { return cmp.Compare(place(a.Path), place(b.Path)) })
		groups = append(groups, group)
	}
	return groups, nil
}

// place returns a sort key: paths come in the order of the landing page's list, then the others by name.
func place(path string) string {
	for i, e := range endpoints {
		if strings.HasPrefix(path, e.Path) && (path == e.Path || strings.HasSuffix(e.Path, "/")) {
			return fmt.Sprintf("%02d", i)
		}
	}
	return "99" + path
}

func readOperation(path string, item *openapi3.PathItem) (operation, error) {
	get := item.Get
	op := operation{ID: get.OperationID, Path: path, Summary: get.Summary, Open: get.Security != nil && len(*get.Security) == 0}
	var err error
	if op.Text, err = markdown(operators, get.Description); err != nil {
		return op, err
	}
	op.Text = linkCodes(op.Text)
	for _, p := range append(item.Parameters, get.Parameters...) {
		if p.Value.In == "header" {
			continue // explained once, in limits and authentication
		}
		read, err := readParameter(p.Value)
		if err != nil {
			return op, err
		}
		op.Parameters = append(op.Parameters, read)
	}
	if body := get.Responses.Value("200").Value.Content["application/json"]; body != nil {
		if op.Fields, err = readFields("", body.Schema.Value); err != nil {
			return op, err
		}
	}
	for status, r := range get.Responses.Map() {
		read := response{Status: status}
		if r.Value.Description != nil {
			if read.Text, err = markdown(operators, *r.Value.Description); err != nil {
				return op, err
			}
			read.Text = linkCodes(read.Text)
		}
		if problem := r.Value.Content["application/problem+json"]; problem != nil {
			if example, ok := problem.Example.(map[string]any); ok {
				read.Code, _ = example["code"].(string)
			}
			if strings.Contains(string(read.Text), codeLink(read.Code)) {
				read.Code = "" // the text names it
			}
		}
		op.Responses = append(op.Responses, read)
	}
	slices.SortFunc(op.Responses, func(a, b response) int { return cmp.Compare(a.Status, b.Status) })
	return op, nil
}

// readExamples returns the example response of each path with its fields in the order written; openapi3's loader loses
// that order.
func readExamples(publicURL string) (map[string]json.RawMessage, error) {
	text, err := openapi.JSON()
	if err != nil {
		return nil, err
	}
	var doc struct {
		Paths map[string]struct {
			Get struct {
				Responses map[string]struct {
					Content map[string]struct {
						Example json.RawMessage `json:"example"`
					} `json:"content"`
				} `json:"responses"`
			} `json:"get"`
		} `json:"paths"`
	}
	if err := json.Unmarshal(bytes.ReplaceAll(text, []byte("http://localhost:8080"), []byte(publicURL)), &doc); err != nil {
		return nil, fmt.Errorf("openapi.yaml: %w", err)
	}
	examples := map[string]json.RawMessage{}
	for path, item := range doc.Paths {
		examples[path] = item.Get.Responses["200"].Content["application/json"].Example
	}
	return examples, nil
}

// exampleOf formats and highlights an example.
func exampleOf(example json.RawMessage) template.HTML {
	var b bytes.Buffer
	if len(example) == 0 || json.Indent(&b, example, "", "  ") != nil {
		return ""
	}
	return highlightJSON(strings.TrimSpace(shortLists(b.String())))
}

// shortLists puts lists of plain values on one line.
func shortLists(text string) string {
	var b strings.Builder
	for {
		open := strings.Index(text, "[\n")
		if open < 0 {
			break
		}
		end := strings.Index(text[open:], "]")
		inner := text[open+1 : open+end]
		b.WriteString(text[:open])
		if strings.ContainsAny(inner, "{[") {
			b.WriteString("[")
			text = text[open+1:]
			continue
		}
		fields := strings.Fields(inner)
		b.WriteString("[" + strings.Join(fields, " ") + "]")
		text = text[open+end+1:]
	}
	return b.String() + text
}

func readParameter(p *openapi3.Parameter) (parameter, error) {
	out := parameter{Name: p.Name, In: p.In, Required: p.Required}
	var err error
	if out.Text, err = markdown(operators, p.Description); err != nil {
		return out, err
	}
	if p.Schema == nil || p.Schema.Value == nil {
		return out, nil
	}
	s := p.Schema.Value
	out.Type, out.Enum = typeOf(s), enumOf(s)
	if s.Min != nil && s.Max != nil {
		out.Type += fmt.Sprintf(", %v to %v", *s.Min, *s.Max)
	}
	if s.Default != nil {
		out.Default = fmt.Sprint(s.Default)
	}
	return out, nil
}
