package web

import (
	"errors"
	"net/http"
	"strings"
	"time"

	"lottery/models"
	"lottery/models/store"
	"lottery/web/mail"
)

// intentUpgrade is the intent to go to checkout after signing in.
const intentUpgrade = "upgrade"

// intent reads what the visitor wants to do after signing in. It is one of our own words and never a URL, so this
// cannot become an open redirect.
func intent(r *http.Request) string {
	if r.FormValue("next") == intentUpgrade {
		return intentUpgrade
	}
	return ""
}

// signInForm is the page that asks for an email address.
type signInForm struct {
	New    bool // worded for somebody without an account
	Email  string
	Error  string
	Intent string
}

func (h *Handler) signInPage(isNew bool) handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		next := intent(r)
		if visitorOf(r) != nil {
			if next == intentUpgrade {
				return seeOther(w, r, "/dashboard/plan")
			}
			return seeOther(w, r, "/dashboard")
		}
		h.showSignIn(w, r, signInForm{New: isNew || next == intentUpgrade, Intent: next}, 0)
		return nil
	}
}

func (h *Handler) showSignIn(w http.ResponseWriter, r *http.Request, f signInForm, status int) {
	v := view{
		Page: "sign-in", Title: "Sign in", Status: status, Data: f,
		Description: "Sign in with a link that we email you. There is no password.",
	}
	switch {
	case f.Intent == intentUpgrade:
		v.Title = "Upgrade to Pro"
		v.Description = "Upgrade to Pro: your email address first, then checkout."
	case f.New:
		v.Title = "Get a free key"
		v.Description = "Sign up with your email address: " + thousands(h.deps.Plans[models.PlanFree].RequestsPerDay) + " requests a day, free, no card."
	}
	v.Private = f.Error != "" || f.Email != ""
	h.show(w, r, v)
}

// askLink mails a sign-in link. Its response does not depend on whether the address has an account.
func (h *Handler) askLink(w http.ResponseWriter, r *http.Request) error {
	if h.deps.Mail == nil {
		return seeOther(w, r, "/sign-in")
	}
	f := signInForm{New: r.PostFormValue("new") == "1", Email: strings.TrimSpace(r.PostFormValue("email")), Intent: intent(r)}
	again := func(status int, text string) error {
		f.Error = text
		h.showSignIn(w, r, f, status)
		return nil
	}
	email, mailbox, err := parseEmail(f.Email)
	if err != nil {
		return again(http.StatusUnprocessableEntity, "Enter an email address, such as name@example.com.")
	}
	if h.tooManyMails(r) {
		retryAfter(w, time.Hour)
		return again(http.StatusTooManyRequests, "Too many links were requested from your network. Try again in an hour.")
	}
	token, hash := newToken("lnk_")
	err = h.deps.Store.CreateLink(r.Context(), store.NewLink{
		Hash: hash, Purpose: models.LinkSignIn, Email: email, Mailbox: mailbox, Intent: f.Intent, PerHour: h.deps.Limits.PerAddress,
	})
	if errors.Is(err, store.ErrTooManyLinks) {
		retryAfter(w, models.LinkLives)
		return again(http.StatusTooManyRequests, "We have sent this address several links in the last hour, and one of them still works. Look for it, including in your spam folder, or try again in 15 minutes.")
	}
	if models.ErrorCode(err) == models.CodeUnavailable { // the form keeps what was typed
		h.deps.Log.ErrorContext(r.Context(), "a sign-in link cannot be made", "error", err)
		w.Header().Set("Retry-After", "5")
		return again(http.StatusServiceUnavailable, "We could not create a link just now. Try again in a minute.")
	}
	if err != nil {
		return err
	}
	if status, text := h.sendLink(w, r, signInMail(email, h.link("/sign-in/link", token)), hash); text != "" {
		return again(status, text)
	}
	h.show(w, r, view{Page: "sent", Title: "Check your email", Private: true, Data: sentPage{email, askAgain(f.Intent)}})
	return nil
}

// sentPage is the data of the page that says where a link was sent.
type sentPage struct{ Email, Again string }

// askAgain returns the path of the page that asks for an email address, keeping the intent.
func askAgain(next string) string {
	if next == intentUpgrade {
		return "/sign-up?next=" + intentUpgrade
	}
	return "/sign-in"
}

func signInMail(to, link string) mail.Message {
	return mail.Message{
		To: to, Subject: "Your sign-in link",
		Lines:  []string{"Hello,", "Here is your link to sign in to the Lottery Draws API. It works once and expires after 15 minutes."},
		Action: "Sign in", Link: link,
		After: []string{"If you did not request it, ignore this email: nothing happens unless the link is used."},
	}
}

func (h *Handler) signOut(w http.ResponseWriter, r *http.Request, v *visitor) error {
	if err := h.deps.Store.EndSession(r.Context(), v.Account.ID, v.Session.ID); err != nil {
		return err
	}
	h.setCookie(w, "", -time.Second)
	return seeOther(w, r, "/")
}

func (h *Handler) signOutEverywhere(w http.ResponseWriter, r *http.Request, v *visitor) error {
	if err := h.deps.Store.EndSessions(r.Context(), v.Account.ID); err != nil {
		return err
	}
	h.setCookie(w, "", -time.Second)
	return seeOther(w, r, "/sign-in")
}
