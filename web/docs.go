package web

import (
	"bytes"
	"cmp"
	"context"
	"embed"
	"fmt"
	"html/template"
	"io/fs"
	"maps"
	"net/http"
	"path"
	"regexp"
	"slices"
	"strings"
	texttemplate "text/template"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	renderer "github.com/yuin/goldmark/renderer/html"

	"lottery/api/problem"
	"lottery/models"
)

//go:embed content samples
var docFiles embed.FS

// docs holds the parsed sources of the docs pages.
type docs struct {
	texts     map[string]*texttemplate.Template // by page: Markdown with template actions
	samples   map[string][]snippet
	legal     map[string]template.HTML
	reference []referenceGroup
}

// docEntry is a docs page as the navigation names it.
type docEntry struct{ Name, Title, Text string }

// docPages lists the docs pages in the order of their navigation.
var docPages = []docEntry{
	{"", "Getting started", "From nothing to your first response in two minutes: get a key, make a call, read the response."},
	{"authentication", "Authentication", "How to send the API key, and how to rotate and revoke keys."},
	{"limits", "Limits", "How many requests a day each plan has, what counts, and how to see what is left."},
	{"pagination", "Pagination", "How to read long lists with cursors, and as CSV."},
	{"errors", "Errors", "Every error code: what it means and what to do."},
	{"coverage", "Data coverage", "Which games are available, for which dates, and what is missing."},
	{"sources", "Sources", "Where each lottery's data comes from, and how it is checked."},
	{"reference", "API reference", "Every endpoint with its parameters, responses and errors, to try with your own key."},
}

// ours renders the embedded docs, which may contain HTML; operators renders the operator's texts, which may not.
var (
	// Aligned cells would need inline styles, which the content policy forbids.
	tables = extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignNone))
	ours   = goldmark.New(goldmark.WithExtensions(tables), goldmark.WithParserOptions(parser.WithAutoHeadingID()),
		goldmark.WithRendererOptions(renderer.WithUnsafe()))
	operators = goldmark.New(goldmark.WithExtensions(tables, extension.Linkify), goldmark.WithParserOptions(parser.WithAutoHeadingID()))
)

func loadDocs(deps *Deps) (*docs, error) {
	d := &docs{texts: map[string]*texttemplate.Template{}, legal: map[string]template.HTML{}}
	files, err := fs.Glob(docFiles, "content/*.md")
	if err != nil {
		return nil, err
	}
	holes := texttemplate.FuncMap{
		"thousands": thousands, "samples": func(string) string { return "" }, "answer": func() string { return "" },
		"codes": func() string { return "" }, "coverage": func() string { return "" }, "plain": plainMarkdown,
	}
	for _, file := range files {
		text, err := docFiles.ReadFile(file)
		if err != nil {
			return nil, err
		}
		name := strings.TrimSuffix(path.Base(file), ".md")
		if d.texts[name], err = texttemplate.New(name).Funcs(holes).Parse(string(text)); err != nil {
			return nil, err
		}
	}
	if d.samples, err = loadSamples(); err != nil {
		return nil, err
	}
	for name, own := range map[string]string{"terms": deps.Terms, "privacy": deps.Privacy} {
		if own == "" {
			b, err := docFiles.ReadFile("content/" + name + ".md")
			if err != nil {
				return nil, err
			}
			own = string(b)
		}
		if d.legal[name], err = markdown(operators, own); err != nil {
			return nil, err
		}
	}
	d.reference, err = loadReference(deps.PublicURL)
	return d, err
}

func markdown(m goldmark.Markdown, text string) (template.HTML, error) {
	var b bytes.Buffer
	if err := m.Convert([]byte(text), &b); err != nil {
		return "", err
	}
	// Wide tables and code scroll inside their own boxes, which the keyboard can reach.
	made := b.String()
	for n := 1; strings.Contains(made, "<table>"); n++ {
		made = strings.Replace(made, "<table>", fmt.Sprintf(`<div class="scroll" tabindex="0" role="region" aria-label="Table %d"><table data-n>`, n), 1)
	}
	made = strings.NewReplacer("<table data-n>", "<table>", "</table>", "</table></div>",
		"<pre>", `<pre tabindex="0">`, "<th>", `<th scope="col">`).Replace(made)
	return template.HTML(made), nil //nolint:gosec // G203: made by goldmark, which escapes what is not ours
}

// markdownMarks matches the ASCII punctuation that may have a meaning in Markdown. A backslash makes it literal
// (https://spec.commonmark.org/0.31.2/#backslash-escapes).
var markdownMarks = regexp.MustCompile("[!-/:-@\\[-`{-~]")

// plainMarkdown escapes text so that Markdown renders it literally.
func plainMarkdown(text string) string { return markdownMarks.ReplaceAllString(text, `\$0`) }

// docValues are the values that the docs' templates and code samples insert.
type docValues struct {
	URL, Game, GameName, From, Offer string
	Free, Pro                        int
	FreeLeft                         int // of Free's requests, in an example
	ProLeft                          int // of Pro's, after all of Free's
	FreeKeys, ProKeys                int
	Sold                             bool // whether Pro is for sale here
	Mailed                           bool // whether emails are sent
}

func (h *Handler) docValues(ctx context.Context) docValues {
	free, pro := h.deps.Plans[models.PlanFree], h.deps.Plans[models.PlanPro]
	v := docValues{
		URL: h.deps.PublicURL, Game: "ny-win-4", GameName: "New York Win 4", From: "2025-01-01", Offer: h.proOffer(ctx),
		Free: free.RequestsPerDay, Pro: pro.RequestsPerDay, FreeKeys: free.MaxKeys, ProKeys: pro.MaxKeys,
		FreeLeft: free.RequestsPerDay * 73 / 100, ProLeft: pro.RequestsPerDay - free.RequestsPerDay,
		Sold: h.deps.Billing != nil, Mailed: h.deps.Mail != nil,
	}
	if m := h.remember(); m != nil && m.sample != nil {
		v.Game, v.GameName = m.sample.Game, m.sample.GameName
		year, _, _ := m.totals.Last.Civil()
		v.From = fmt.Sprintf("%d-01-01", year)
	}
	return v
}

// docView is the data of a docs page.
type docView struct {
	Pages     []docEntry
	Current   string
	Body      func() (template.HTML, error)
	Reference []referenceGroup
	Game      string
}

func (h *Handler) docPage(w http.ResponseWriter, r *http.Request) error {
	name := r.PathValue("page")
	at := slices.IndexFunc(docPages, func(p docEntry) bool { return p.Name == name })
	if at < 0 {
		return errNotFound()
	}
	m := h.remember()
	v := view{Page: "doc", Title: docPages[at].Title, Section: "docs", Description: docPages[at].Text, Kept: m.kept("docs/" + name)}
	data := docView{Pages: docPages, Current: name, Game: m.sampleGame()}
	if name == "reference" {
		v.Page, data.Reference = "reference", h.docs.reference
	} else {
		values := h.docValues(r.Context())
		v.KeptOf, data.Body = values, func() (template.HTML, error) { return h.docBody(name, &values) }
	}
	v.Data = data
	h.show(w, r, v)
	return nil
}

func (h *Handler) docBody(name string, values *docValues) (template.HTML, error) {
	if name == "" {
		name = "index"
	}
	t, err := h.docs.texts[name].Clone()
	if err != nil {
		return "", err
	}
	var b strings.Builder
	err = t.Funcs(texttemplate.FuncMap{
		"samples": func(name string) (string, error) { return h.sampleTabs(name, values) },
		"answer":  h.answerBlock, "codes": codesTable, "coverage": h.coverageTable,
	}).Execute(&b, values)
	if err != nil {
		return "", err
	}
	return markdown(ours, b.String())
}

// answerBlock renders the sample request and its response, taken from the catalog in force.
func (h *Handler) answerBlock() string {
	m := h.remember()
	if m == nil || m.sample == nil {
		return "It has no draws yet:\n\n```json\n{\"draws\": [], \"total\": 0, \"game\": \"ny-win-4\"}\n```"
	}
	return "This is `" + m.sample.Path + "`:\n\n" + `<pre class="code" tabindex="0"><code>` + strings.ReplaceAll(string(m.sample.JSON), "\n", "&#10;") + `</code></pre>`
}

// codesTable renders a Markdown table of all error codes, ordered by status.
func codesTable() string {
	var b strings.Builder
	b.WriteString("| status | code | meaning |\n|---|---|---|\n")
	for _, code := range sortedCodes() {
		fmt.Fprintf(&b, "| %d | [`%s`](/docs/errors/%s) | %s |\n", problem.Codes()[code], code, code, errorTexts[code].Title)
	}
	return b.String()
}

func sortedCodes() []problem.Code {
	codes := problem.Codes()
	return slices.SortedFunc(maps.Keys(codes), func(a, b problem.Code) int {
		return cmp.Or(cmp.Compare(codes[a], codes[b]), cmp.Compare(a, b))
	})
}

// coverageTable renders a Markdown table of the games in the catalog: their draws, dates and missing days.
func (h *Handler) coverageTable() string {
	m := h.remember()
	if m == nil || len(m.games) == 0 {
		return "There are no draws yet."
	}
	var b strings.Builder
	fmt.Fprintf(&b, "**%s** of %s, from %s to %s.\n\n", counted(m.totals.Draws, "draw"), models.Count(m.totals.Games, "game"), humanDay(m.totals.First), humanDay(m.totals.Last))
	b.WriteString("| game | name | drawn | draws | from | to | missing days |\n|---|---|---|---:|---|---|---:|\n")
	for _, g := range m.games {
		fmt.Fprintf(&b, "| [`%s`](/explore/%s) | %s | %s | %s | %s | %s | %s |\n", g.ID, g.ID, plainMarkdown(g.Name),
			strings.ReplaceAll(g.Tods().String(), ",", ", "), thousands(g.Len()), g.First(), g.Last(), thousands(g.MissingDays()))
	}
	return b.String()
}

func (h *Handler) legal(name, title string) handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		h.show(w, r, view{
			Page: "legal", Title: title, Description: title + " of this service.", Kept: h.remember().kept(name), Data: h.docs.legal[name],
		})
		return nil
	}
}
