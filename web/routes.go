package web

import (
	"context"
	"net/http"
	"path"
	"strings"
)

// routes returns the handler of all pages, wrapped in what applies to every request.
func (h *Handler) routes() (http.Handler, error) {
	all, mux := http.NewServeMux(), http.NewServeMux()
	// public pages are the same for everybody and kept by shared caches, so they must carry no session cookie.
	public := func(pattern string, f handler) { all.HandleFunc(pattern, h.do(f)) }
	open := func(pattern string, f handler) { mux.HandleFunc(pattern, h.do(f)) }
	mine := func(pattern string, f signedIn) { mux.HandleFunc(pattern, h.required(f)) }

	open("GET /{$}", h.home)
	open("GET /pricing", h.pricing)
	open("GET /explore", h.explore)
	open("GET /explore/{game}", h.exploreGame)
	open("GET /status", h.status)
	open("GET /terms", h.legal("terms", "Terms of use"))
	open("GET /privacy", h.legal("privacy", "Privacy"))
	open("GET /docs", h.docPage)
	open("GET /docs/{page}", h.docPage)
	open("GET /docs/errors/{code}", h.errorPage)
	public("GET /llms.txt", h.llms)
	public("GET /robots.txt", h.robots)
	public("GET /sitemap.xml", h.sitemap)
	public("GET /static/{file}", h.assets.serve) // "/static/" would redirect from /static
	public("GET /favicon.ico", h.assets.serveAs("favicon.svg"))

	open("GET /sign-in", h.signInPage(false))
	open("GET /sign-up", h.signInPage(true))
	open("POST /sign-in", h.askLink)
	open("GET /sign-in/link", h.openLink)
	open("POST /sign-in/link", h.spendLink)
	mine("POST /sign-out", h.signOut)

	mine("GET /dashboard", h.dashboard)
	mine("GET /dashboard/keys", h.keys)
	mine("POST /dashboard/keys", h.createKey)
	mine("GET /dashboard/keys/{id}/revoke", h.keyQuestion("revoke", "Revoke a key"))
	mine("POST /dashboard/keys/{id}/revoke", h.revokeKey)
	mine("GET /dashboard/keys/{id}/rotate", h.keyQuestion("rotate", "Rotate a key"))
	mine("POST /dashboard/keys/{id}/rotate", h.rotateKey)
	mine("GET /dashboard/plan", h.plan)
	open("POST /dashboard/plan/upgrade", h.upgrade)
	mine("POST /dashboard/plan/portal", h.portal)
	mine("GET /dashboard/billing/return", h.billingReturn)
	mine("GET /dashboard/account", h.account)
	mine("POST /dashboard/account/email", h.askEmail)
	open("GET /dashboard/account/email/confirm", h.openEmailLink)
	open("POST /dashboard/account/email/confirm", h.changeEmail)
	mine("POST /dashboard/account/sign-out", h.signOutEverywhere)
	mine("GET /dashboard/account/close", h.closeQuestion)
	mine("POST /dashboard/account/close", h.closeAccount)
	mine("GET /dashboard/support", h.support)

	if h.deps.Mailbox != nil {
		open("GET /dev/mail", h.mailbox)
		open("GET /dev/mail/{id}", h.mailboxMessage)
	}
	open("/", func(w http.ResponseWriter, r *http.Request) error { return h.noPage(w, r, allowed(r, all, mux)) })
	all.Handle("/", h.recognised(mux))
	unclean := h.do(func(http.ResponseWriter, *http.Request) error { return errNotFound() })
	return h.secured(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if clean := path.Clean(r.URL.Path); clean != r.URL.Path && (clean == "/" || clean != strings.TrimSuffix(r.URL.Path, "/")) {
			unclean(w, r) // otherwise ServeMux would redirect
			return
		}
		ctx, cancel := context.WithTimeout(r.Context(), h.deps.Patience) // a hanging database must not block forever
		defer cancel()
		all.ServeHTTP(w, r.WithContext(ctx))
	}))
}

// noPage answers requests that match no page: 404 for an unknown path; 405, or 204 to OPTIONS, for a known path with
// another method.
func (h *Handler) noPage(w http.ResponseWriter, r *http.Request, allow string) error {
	if allow == "" {
		return errNotFound()
	}
	w.Header().Set("Allow", allow)
	if r.Method == http.MethodOptions {
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
	h.failPage(w, r, failure{
		http.StatusMethodNotAllowed, "The method is not allowed here",
		"This URL answers " + allow + ". If you opened it in a browser, go back to the page you came from.",
	})
	return nil
}

// allowed returns the methods supported at the request's path, as a value of the Allow header; "" = no such page.
func allowed(r *http.Request, muxes ...*http.ServeMux) string {
	var methods []string
	asked := r.WithContext(r.Context()) // a copy, since Method is set below
	for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodPost} {
		asked.Method = method
		for _, m := range muxes {
			if _, pattern := m.Handler(asked); pattern != "" && pattern != "/" {
				methods = append(methods, method)
			}
		}
	}
	if methods == nil {
		return ""
	}
	return strings.Join(append(methods, http.MethodOptions), ", ")
}
