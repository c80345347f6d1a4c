package web

import (
	"net/http"
	"slices"
	"time"

	"lottery/models"
)

// accountView is the data of the account page.
type accountView struct {
	Sessions []models.Session
	Older    bool // there are more sessions than are shown
	Now      time.Time
	Email    string // as typed into the form
	Error    string
	Sent     string // address that a link was just sent to
}

// sessionsShown bounds the list of sessions: a script may open any number.
const sessionsShown = 100

func (h *Handler) account(w http.ResponseWriter, r *http.Request, v *visitor) error {
	return h.showAccount(w, r, v, accountView{}, 0)
}

func (h *Handler) showAccount(w http.ResponseWriter, r *http.Request, v *visitor, data accountView, status int) error {
	list, err := h.deps.Store.Sessions(r.Context(), v.Account.ID, sessionsShown+1)
	if err != nil {
		return err
	}
	data.Older, data.Sessions = len(list) > sessionsShown, list[:min(len(list), sessionsShown)]
	// The visitor's own session may have been used longer ago than those listed.
	if !slices.ContainsFunc(data.Sessions, func(s models.Session) bool { return s.ID == v.Session.ID }) {
		data.Sessions = append(data.Sessions, v.Session)
	}
	data.Now = h.deps.Now().UTC()
	h.show(w, r, view{Page: "account", Title: "Account", Section: "dashboard", Sub: "account", Status: status, Private: true, Data: data})
	return nil
}
