package web

import (
	"fmt"
	"html"
	"io/fs"
	"path"
	"strings"
	"text/template"
)

// snippet is a sample in one language. Tests run every one against a real server.
type snippet struct {
	Language string
	text     *template.Template
}

// languages lists the languages of the samples in the order shown, with the endings of their files.
var languages = []struct{ Ending, Name string }{
	{".sh", "curl"}, {".py", "Python"}, {".js", "JavaScript"}, {".go.txt", "Go"}, {".R", "R"},
}

func loadSamples() (map[string][]snippet, error) {
	files, err := fs.Glob(docFiles, "samples/*")
	if err != nil {
		return nil, err
	}
	all := map[string][]snippet{}
	for _, language := range languages {
		for _, file := range files {
			name, ok := strings.CutSuffix(path.Base(file), language.Ending)
			if !ok {
				continue
			}
			text, err := docFiles.ReadFile(file)
			if err != nil {
				return nil, err
			}
			t, err := template.New(file).Parse(string(text))
			if err != nil {
				return nil, err
			}
			all[name] = append(all[name], snippet{language.Name, t})
		}
	}
	return all, nil
}

func (s *snippet) fill(v *docValues) (string, error) {
	var b strings.Builder
	err := s.text.Execute(&b, v)
	return strings.TrimRight(b.String(), "\n"), err
}

// sampleTabs renders a sample in all its languages, one shown at a time. Radio buttons make it work without scripts.
func (h *Handler) sampleTabs(name string, v *docValues) (string, error) {
	list := h.docs.samples[name]
	if len(list) == 0 {
		return "", fmt.Errorf("there is no sample %q", name)
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<fieldset class="tabs"><legend class="hidden">Language of the sample</legend>`)
	for i := range list {
		checked := ""
		if i == 0 {
			checked = " checked"
		}
		fmt.Fprintf(&b, `<input type="radio" name="tabs-%s" id="%s-%d" class="tab-%d"%s><label for="%s-%d">%s</label>`, name, name, i, i, checked, name, i, list[i].Language)
	}
	for i := range list {
		text, err := list[i].fill(v)
		if err != nil {
			return "", err
		}
		// Write line breaks as character references: an empty line would end the HTML block in Markdown.
		fmt.Fprintf(&b, `<div class="panel panel-%d"><button type="button" class="copy" data-copy="%s-code-%d">Copy</button><pre tabindex="0" role="group" aria-label="%s"><code id="%s-code-%d">%s</code></pre></div>`,
			i, name, i, list[i].Language, name, i, strings.ReplaceAll(html.EscapeString(text), "\n", "&#10;"))
	}
	b.WriteString("</fieldset>")
	return b.String(), nil
}
