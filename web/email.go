package web

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"lottery/models"
	"lottery/models/secret"
	"lottery/models/store"
	"lottery/web/mail"
)

// askEmail mails a link to the new address. The account's address changes only once that link is used (changeEmail).
func (h *Handler) askEmail(w http.ResponseWriter, r *http.Request, v *visitor) error {
	data := accountView{Email: strings.TrimSpace(r.PostFormValue("email"))}
	again := func(status int, text string) error {
		data.Error = text
		return h.showAccount(w, r, v, data, status)
	}
	email, mailbox, err := parseEmail(data.Email)
	switch {
	case err != nil:
		return again(http.StatusUnprocessableEntity, "Enter an email address, such as name@example.com.")
	case email == v.Email():
		return again(http.StatusUnprocessableEntity, "This is already your address. Enter the new one.")
	case v.Account.Status == models.AccountSuspended:
		return again(http.StatusConflict, "Your account is suspended. Its address cannot change until the suspension is lifted. Contact support.")
	case h.deps.Mail == nil:
		return again(http.StatusServiceUnavailable, "This service sends no email at the moment, so the address cannot be confirmed.")
	case h.tooManyMails(r):
		retryAfter(w, time.Hour)
		return again(http.StatusTooManyRequests, "Too many links were requested from your network. Try again in an hour.")
	}
	token, hash := newToken("lnk_")
	err = h.deps.Store.CreateLink(r.Context(), store.NewLink{
		Hash: hash, Purpose: models.LinkChangeEmail, Email: email, Mailbox: mailbox, AccountID: v.Account.ID, SessionID: v.Session.ID, PerHour: h.deps.Limits.PerAddress,
	})
	if errors.Is(err, store.ErrSignedOut) {
		return seeOther(w, r, "/sign-in")
	}
	if errors.Is(err, store.ErrTooManyLinks) {
		retryAfter(w, models.LinkLives)
		return again(http.StatusTooManyRequests, "We have sent this address several links in the last hour. Use the newest one, or try again in 15 minutes.")
	}
	if err != nil {
		return err
	}
	message := mail.Message{
		To: email, Subject: "Confirm your new address",
		Lines:  []string{"Hello,", "Someone, probably you, wants to use this address for the Lottery Draws API account " + v.Email() + ". The link works once and expires after 15 minutes."},
		Action: "Confirm the address", Link: h.link("/dashboard/account/email/confirm", token),
		After: []string{"If this was not you, ignore this email: nothing changes unless the link is used."},
	}
	if status, text := h.sendLink(w, r, message, hash); text != "" {
		return again(status, text)
	}
	return h.showAccount(w, r, v, accountView{Sent: email}, 0)
}

func (h *Handler) openEmailLink(w http.ResponseWriter, r *http.Request) error {
	token := r.URL.Query().Get("token")
	l, err := h.deps.Store.Link(r.Context(), secret.Hash(token), models.LinkChangeEmail)
	var a models.Account
	if err == nil {
		a, err = h.deps.Store.Account(r.Context(), l.AccountID)
	}
	if models.ErrorCode(err) == models.CodeNotFound {
		return h.linkGone(w, r, "")
	}
	if err != nil {
		return err
	}
	h.show(w, r, view{Page: "link", Title: "Confirm your new address", Private: true, Data: linkPage{
		Token: token, Action: "/dashboard/account/email/confirm", Button: "Use " + l.Email,
		Text: "The account of " + *a.Email + " moves to this address, with its plan and its keys, and you sign in with it from now on. Other browsers are signed out. If that is not your account, close this page.",
	}})
	return nil
}

func (h *Handler) changeEmail(w http.ResponseWriter, r *http.Request) error {
	in := store.EmailChange{Link: secret.Hash(r.PostFormValue("token")), Claim: mailClaim}
	if session := h.token(r); session != "" {
		in.Session = secret.Hash(session)
	}
	told, after, err := h.deps.Store.ChangeEmail(r.Context(), in)
	if models.ErrorCode(err) == models.CodeNotFound {
		return h.linkGone(w, r, "")
	}
	if err != nil {
		return err
	}
	if h.deps.Mail != nil {
		h.tellBefore(r.Context(), &told)
	}
	h.tellStripe(r, after.ID)
	h.show(w, r, view{Page: "message", Title: "Your address has changed", Private: true, Data: message{
		"Your account's address is now " + *after.Email + ". Sign in with it from now on. Other browsers have been signed out, and keys keep working.", "/dashboard", "Go to the dashboard",
	}})
	return nil
}

// tellBefore mails the account's previous address, so that the owner of a hijacked account learns of the change. The
// mail is in the outbox too, in case the mail server is down or this node dies.
func (h *Handler) tellBefore(ctx context.Context, m *models.Mail) {
	message, ok := emailChanged(m, h.deps.Support)
	message.Once = m.Once
	err := errUnknownMail
	if ok {
		err = h.send(ctx, message)
	}
	after, cancel := h.deps.Store.Lasting(ctx)
	defer cancel()
	if err == nil {
		err = h.deps.Store.DropMail(after, m.Once)
	} else {
		err = h.deps.Store.MailFailed(after, m.Once, err.Error(), firstWait)
	}
	if err != nil {
		h.deps.Log.WarnContext(ctx, "the outbox cannot be told of a mail now; it tries again in a minute", "mail", m.ID, "error", err)
	}
}

// tellStripe passes the account's new address on to Stripe. The change stands even if that fails; the next reconcile
// does it then.
func (h *Handler) tellStripe(r *http.Request, accountID string) {
	if h.deps.Billing == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), 5*time.Second)
	defer cancel()
	if err := h.deps.Billing.SendEmail(ctx, accountID); err != nil {
		h.deps.Log.WarnContext(r.Context(), "Stripe could not be told of a new address; the next reconcile tries again", "account", accountID, "error", err)
	}
}
