package web

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"lottery/billing"
	"lottery/models"
	"lottery/models/secret"
	"lottery/models/store"
	"lottery/web/mail"
)

// accountView is the data of the account page.
type accountView struct {
	Sessions []models.Session
	Older    bool   // there are more sessions than are shown
	Current  string // id of the session that this request belongs to
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
	data.Current, data.Now = v.Session.ID, h.deps.Now().UTC()
	h.show(w, r, view{Page: "account", Title: "Account", Section: "dashboard", Sub: "account", Status: status, Private: true, Data: data})
	return nil
}

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
	if err := h.send(r.Context(), message); err != nil && !errors.Is(err, mail.ErrUnconfirmed) {
		h.unsent(r.Context(), hash)
		retryAfter(w, time.Minute)
		return again(http.StatusServiceUnavailable, "We could not send the email just now. Check the address, and try again in a minute.")
	}
	return h.showAccount(w, r, v, accountView{Sent: email}, 0)
}

func (h *Handler) openEmailLink(w http.ResponseWriter, r *http.Request) error {
	token := r.URL.Query().Get("token")
	l, err := h.deps.Store.Link(r.Context(), secret.Hash(token), models.LinkChangeEmail)
	if models.ErrorCode(err) == models.CodeNotFound {
		return h.linkGone(w, r, "")
	}
	if err != nil {
		return err
	}
	h.show(w, r, view{Page: "link", Title: "Confirm your new address", Private: true, Data: linkPage{
		Token: token, Email: l.Email, Action: "/dashboard/account/email/confirm", Button: "Use " + l.Email,
		Text: "Your account moves to this address, and you sign in with it from now on.",
	}})
	return nil
}

func (h *Handler) changeEmail(w http.ResponseWriter, r *http.Request) error {
	told, after, err := h.deps.Store.ChangeEmail(r.Context(), secret.Hash(r.PostFormValue("token")), mailClaim)
	if models.ErrorCode(err) == models.CodeNotFound {
		return h.linkGone(w, r, "")
	}
	if err != nil {
		return err
	}
	if told.ID != 0 && h.deps.Mail != nil {
		h.tellBefore(r.Context(), &told)
	}
	h.tellStripe(r, after.ID)
	h.show(w, r, view{Page: "message", Title: "Your address has changed", Private: true, Data: message{
		"Your account's address is now " + *after.Email + ". Sign in with it from now on.", "/dashboard", "Go to the dashboard",
	}})
	return nil
}

// tellBefore mails the account's previous address, so that the owner of a hijacked account learns of the change. The
// mail is in the outbox too, in case the mail server is down or this node dies.
func (h *Handler) tellBefore(ctx context.Context, m *models.Mail) {
	var c models.EmailChanged
	err := json.Unmarshal([]byte(m.Data), &c)
	if err == nil {
		message := emailChanged(c, h.deps.Support)
		message.Once = m.Once
		err = h.send(ctx, message)
	}
	after, cancel := h.deps.Store.Lasting(ctx)
	defer cancel()
	if err == nil {
		err = h.deps.Store.DropMail(after, m.ID)
	} else {
		err = h.deps.Store.MailFailed(after, m.ID, err.Error(), firstWait)
	}
	if err != nil {
		h.deps.Log.WarnContext(ctx, "the outbox cannot be told of a mail now; it tries again in a minute", "mail", m.ID, "error", err)
	}
}

func emailChanged(c models.EmailChanged, support string) mail.Message {
	return mail.Message{
		To: c.Before, ReplyTo: support, Subject: "Your address was changed",
		Lines: []string{"Hello,", "The address of your Lottery Draws API account is now " + c.After + "."},
		After: []string{"If this was not you, contact support" + supportHint(support) + " immediately."},
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

func supportHint(address string) string {
	if address == "" {
		return ""
	}
	return " (" + address + ")"
}

// message is a page with a text and one link.
type message struct{ Text, Link, Label string }

// closeView is the page that asks for confirmation before an account is closed.
type closeView struct {
	planView
	Error string
	Stuck bool // see stuck
}

// notEnded explains why an account stays open: its subscription cannot be canceled while payments are not connected.
const notEnded = "Your subscription cannot be canceled from here, because payments are not connected at the moment. " +
	"The account stays open, so that you do not keep paying for a closed one. Contact support, who can end both."

func (h *Handler) closeQuestion(w http.ResponseWriter, r *http.Request, v *visitor) error {
	return h.showClose(w, r, v, "", 0)
}

func (h *Handler) showClose(w http.ResponseWriter, r *http.Request, v *visitor, text string, status int) error {
	p, err := h.standing(r, v)
	if err != nil {
		return err
	}
	data := closeView{p, text, h.stuck(&p.Billing)}
	if data.Stuck && text == "" {
		data.Error = notEnded
	}
	h.show(w, r, view{Page: "close", Title: "Close your account", Section: "dashboard", Sub: "account", Status: status, Private: true, Data: data})
	return nil
}

// stuck reports whether the account has a subscription, or a checkout that can still be paid, while no connection to
// Stripe is configured to end it.
func (h *Handler) stuck(b *models.BillingAccount) bool {
	return h.deps.Billing == nil && (b.GoesOn() || b.Payable(h.deps.Now()))
}

// unwaited returns a context for work that must be finished once begun: it keeps ctx's deadline and values, but is not
// canceled when the client disconnects.
func unwaited(ctx context.Context) (context.Context, context.CancelFunc) {
	lasting := context.WithoutCancel(ctx)
	if until, ok := ctx.Deadline(); ok {
		return context.WithDeadline(lasting, until)
	}
	return context.WithCancel(lasting)
}

// closeAccount closes the visitor's account. It ends the subscription first: an account that still pays is never
// closed.
func (h *Handler) closeAccount(w http.ResponseWriter, r *http.Request, v *visitor) error {
	if v.Account.Status == models.AccountSuspended {
		return h.showClose(w, r, v, "Your account is suspended. Contact support, who can close it.", http.StatusConflict)
	}
	if r.PostFormValue("confirm") != "yes" {
		return h.showClose(w, r, v, "Check the box to confirm.", http.StatusUnprocessableEntity)
	}
	// Do not stop halfway if the client leaves: the account would stay open without its subscription, and nobody would
	// be told.
	ctx, cancel := unwaited(r.Context())
	defer cancel()
	r = r.WithContext(ctx)
	b, err := h.deps.Store.BillingAccount(r.Context(), v.Account.ID)
	if err != nil {
		return err
	}
	if h.stuck(&b) {
		return h.showClose(w, r, v, notEnded, http.StatusConflict)
	}
	var ended billing.Ended
	bye := "Your keys no longer work, nothing more will be charged, and your address is deleted. Thank you for having been with us."
	if h.deps.Billing != nil {
		ended, err = h.deps.Billing.End(r.Context(), v.Account.ID, billing.Cause{Actor: "customer", Reason: "closed the account"})
		if err != nil {
			why := "an account stays open: it is not certain that its subscription is ended"
			if ended.All {
				why = "an account stays open: what follows the end of its subscription failed"
			}
			h.deps.Log.ErrorContext(r.Context(), why, "account", v.Account.ID, "cancelled", ended.Cancelled, "error", err)
			return h.doubtEnded(w, r, v, &ended)
		}
		if ended.JustPaid || ended.UnderWay {
			bye = "Your keys no longer work, and your address is deleted." + h.paidForEnded(&ended, " and mention account "+v.Account.ID) + " Nothing else will be charged."
		}
	}
	_, err = h.deps.Store.DeleteAccount(r.Context(), v.Account.ID)
	switch {
	case models.ErrorCode(err) == models.CodeNotFound: // closed by a second click or an operator in the meantime
		bye = "Your keys do not work any more, and your address is deleted."
	case err != nil && len(ended.Cancelled) == 0:
		return err
	case err != nil:
		h.deps.Log.ErrorContext(r.Context(), "a subscription was ended, and its account cannot be closed", "account", v.Account.ID, "error", err)
		h.stillOpen(w, r, h.endedNotClosed(&ended))
		return nil
	}
	h.setCookie(w, "", -time.Second)
	r = withoutVisitor(r)
	h.show(w, r, view{Page: "message", Title: "Your account is closed", Private: true, Data: message{bye, "/", "Go to the home page"}})
	return nil
}

// endedNotClosed is the text for a customer whose subscription is canceled, but whose account could not be closed.
func (h *Handler) endedNotClosed(ended *billing.Ended) string {
	return "Your subscription is canceled, but the account could not be closed just now. Try closing it again in a minute, or keep using Free." +
		h.paidForEnded(ended, "")
}

// paidForEnded is what is said about payments for what was just canceled: one that was made, and one that may come.
func (h *Handler) paidForEnded(ended *billing.Ended, naming string) (text string) {
	support := "contact support" + supportHint(h.deps.Support) + naming + "."
	if ended.JustPaid {
		text += " The payment you just made is canceled too, and we have been notified to refund it: if that takes long, " + support
	}
	if ended.UnderWay {
		text += " A payment that your bank is still processing cannot be stopped: if it is charged, " + support
	}
	return text
}

// doubtEnded explains why the account stays open after its subscription could not be ended for certain. The database
// may be down as well, so it falls back on a page that needs none.
func (h *Handler) doubtEnded(w http.ResponseWriter, r *http.Request, v *visitor, ended *billing.Ended) error {
	if ended.All && len(ended.Cancelled) > 0 {
		h.stillOpen(w, r, h.endedNotClosed(ended))
		return nil
	}
	const text = "We cannot tell whether your subscription is canceled, so the account stays open. Try again in a minute."
	if err := h.showClose(w, r, v, text, http.StatusServiceUnavailable); err != nil {
		h.stillOpen(w, r, text)
	}
	return nil
}

// stillOpen answers that the account is still open, on a page that needs no database.
func (h *Handler) stillOpen(w http.ResponseWriter, r *http.Request, text string) {
	w.Header().Set("Retry-After", "5")
	h.failPage(w, r, failure{http.StatusServiceUnavailable, "Your account is still open", text})
}

// supportView is the data of the page that says how to get help.
type supportView struct {
	Address  string
	Priority bool
	Subject  string
}

func (h *Handler) support(w http.ResponseWriter, r *http.Request, v *visitor) error {
	plan, _ := v.Account.Plan()
	data := supportView{Address: h.deps.Support, Priority: plan == models.PlanPro, Subject: "Question about the API, account " + v.Account.ID}
	if data.Priority {
		data.Subject = "[Pro] " + data.Subject
	}
	h.show(w, r, view{Page: "support", Title: "Support", Section: "dashboard", Sub: "support", Private: true, Data: data})
	return nil
}
