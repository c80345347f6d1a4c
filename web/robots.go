package web

import (
	"fmt"
	"net/http"
	"strings"

	"lottery/models"
)

// llms serves an overview of the docs for language models: https://llmstxt.org.
func (h *Handler) llms(w http.ResponseWriter, r *http.Request) error {
	var b strings.Builder
	base := h.deps.PublicURL
	b.WriteString("# Lottery Draws API\n\n> Historical draws of US digit lottery games (Pick 3, Pick 4, Pick 5) as a read-only JSON API. " +
		"Every request needs an API key in the header X-API-Key. Past draws predict nothing.\n\n## Docs\n\n")
	for _, p := range docPages {
		fmt.Fprintf(&b, "- [%s](%s): %s\n", p.Title, strings.TrimSuffix(base+"/docs/"+p.Name, "/"), p.Text)
	}
	fmt.Fprintf(&b, "- [OpenAPI 3.1](%s/openapi.yaml): the whole contract\n\n## Endpoints\n\n", base)
	for _, e := range endpoints {
		query := e.Query
		if strings.HasSuffix(e.Path, "/") { // e.Query is an example of the path parameter
			query = "{date}"
		}
		fmt.Fprintf(&b, "- `GET %s%s`: %s\n", e.Path, query, e.Text)
	}
	free, pro := h.deps.Plans[models.PlanFree], h.deps.Plans[models.PlanPro]
	fmt.Fprintf(&b, "\n## Plans\n\n- Free: %s requests a day\n- Pro: %s requests a day, %s\n", thousands(free.RequestsPerDay), thousands(pro.RequestsPerDay), h.proOffer(r.Context()))
	if m := h.remember(); m != nil && len(m.games) > 0 {
		b.WriteString("\n## Games\n\n")
		for _, g := range m.games {
			fmt.Fprintf(&b, "- `%s`: %s, %s, %s to %s\n", g.ID, g.Name, counted(g.Len(), "draw"), g.First(), g.Last())
		}
	}
	return h.text(w, r, "text/plain; charset=utf-8", b.String())
}

func (h *Handler) robots(w http.ResponseWriter, r *http.Request) error {
	text := "User-agent: *\nDisallow: /sign-in/link\nDisallow: /v1/\n\nSitemap: " + h.deps.PublicURL + "/sitemap.xml\n"
	return h.text(w, r, "text/plain; charset=utf-8", text)
}

func (h *Handler) sitemap(w http.ResponseWriter, r *http.Request) error {
	paths := []string{"/", "/pricing", "/explore", "/status", "/terms", "/privacy"}
	for _, p := range docPages {
		paths = append(paths, strings.TrimSuffix("/docs/"+p.Name, "/"))
	}
	for _, code := range sortedCodes() {
		paths = append(paths, "/docs/errors/"+string(code))
	}
	if m := h.remember(); m != nil {
		for _, g := range m.games {
			paths = append(paths, "/explore/"+g.ID)
		}
	}
	var b strings.Builder
	b.WriteString(`<?xml version="1.0" encoding="UTF-8"?>` + "\n" + `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">` + "\n")
	for _, p := range paths { // our own ids and names: nothing to escape
		fmt.Fprintf(&b, "<url><loc>%s%s</loc></url>\n", h.deps.PublicURL, p)
	}
	b.WriteString("</urlset>\n")
	return h.text(w, r, "application/xml", b.String())
}
