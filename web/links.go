package web

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"time"

	"lottery/models"
	"lottery/models/secret"
	"lottery/models/store"
	"lottery/web/mail"
)

// parseEmail checks that mail can be sent to an address at all: to any other, every attempt would fail. It returns the
// address, always the same for one domain, and the mailbox, which is the address as mail servers read it. The mailbox is
// checked too, since 127.0.0.xn--1- becomes 127.0.0.1 there.
func parseEmail(s string) (email, mailbox string, err error) {
	if email, _, err = models.ParseEmail(s); err != nil {
		return "", "", err
	}
	if mailbox, err = mail.Recipient(email); err != nil {
		return "", "", err
	}
	_, _, err = models.ParseEmail(mailbox)
	return mail.Readable(email), mailbox, err
}

// link returns a URL for a mail. It begins with the configured public URL, whatever host the request names.
func (h *Handler) link(path, token string) string {
	return h.deps.PublicURL + path + "?token=" + url.QueryEscape(token)
}

// sendTime bounds the sending of a mail that a visitor waits for.
const sendTime = 15 * time.Second

// send sends a mail, even if the client disconnects: the link for it is already stored. It logs errors, without the
// text of the message, and returns them. A link whose mail is ErrUnconfirmed stays: the mail probably arrives.
func (h *Handler) send(ctx context.Context, m mail.Message) error {
	lasting, cancel := context.WithTimeout(context.WithoutCancel(ctx), sendTime)
	defer cancel()
	err := h.deps.Mail.Send(lasting, m)
	switch {
	case errors.Is(err, mail.ErrUnconfirmed):
		h.deps.Log.WarnContext(ctx, "a mail may have been sent", "subject", m.Subject, "error", err)
	case errors.Is(err, mail.ErrRecipient):
		h.deps.Log.InfoContext(ctx, "a mail was refused: no such recipient", "subject", m.Subject, "error", err)
	case err != nil:
		h.deps.Log.ErrorContext(ctx, "a mail cannot be sent", "subject", m.Subject, "error", err)
	}
	return err
}

// sendLink sends a mail with the link of that hash. If it cannot, it takes the link back, and returns the status and the
// text for whoever asked for it; otherwise text is "".
func (h *Handler) sendLink(w http.ResponseWriter, r *http.Request, m mail.Message, link [32]byte) (status int, text string) {
	err := h.send(r.Context(), m)
	if err == nil || errors.Is(err, mail.ErrUnconfirmed) {
		return 0, ""
	}
	h.unsent(r.Context(), link)
	if errors.Is(err, mail.ErrRecipient) {
		return http.StatusUnprocessableEntity, "Mail to this address is refused: its mailbox or domain does not seem to exist. Check it for typos."
	}
	retryAfter(w, time.Minute)
	return http.StatusServiceUnavailable, "We could not send the email just now. Check the address, and try again in a minute."
}

// unsent withdraws a link whose mail could not be sent, so that it does not count towards the address's limit per hour.
func (h *Handler) unsent(ctx context.Context, link [32]byte) {
	after, cancel := h.deps.Store.Lasting(ctx)
	defer cancel()
	if err := h.deps.Store.WithdrawLink(after, link); err != nil {
		h.deps.Log.WarnContext(ctx, "a link that was not sent cannot be taken back; it counts as sent for an hour", "error", err)
	}
}

// linkPage is the page behind a mailed link. It only shows a button: opening the link must change nothing, because mail
// scanners open links too.
type linkPage struct {
	Token  string
	Action string // where the button posts to
	Button string
	Text   string
}

func (h *Handler) openLink(w http.ResponseWriter, r *http.Request) error {
	token := r.URL.Query().Get("token")
	l, err := h.deps.Store.Link(r.Context(), secret.Hash(token), models.LinkSignIn)
	if models.ErrorCode(err) == models.CodeNotFound {
		return h.linkGone(w, r, l.Intent)
	}
	if err != nil {
		return err
	}
	h.show(w, r, view{Page: "link", Title: "Sign in", Private: true, Data: linkPage{
		Token: token, Action: "/sign-in/link", Button: "Sign in as " + l.Email, Text: "One click, and you are in.",
	}})
	return nil
}

// linkGone says that a link no longer works. Visitors who are signed in can go on; others can request a new link with
// the same intent.
func (h *Handler) linkGone(w http.ResponseWriter, r *http.Request, next string) error {
	h.show(w, r, view{Page: "link-gone", Title: "This link no longer works", Status: http.StatusGone, Private: true, Data: askAgain(next)})
	return nil
}

// spendLink signs the visitor in: it uses up the link, creates the account if there is none, and starts a new session.
func (h *Handler) spendLink(w http.ResponseWriter, r *http.Request) error {
	token := r.PostFormValue("token")
	l, err := h.deps.Store.Link(r.Context(), secret.Hash(token), models.LinkSignIn)
	if models.ErrorCode(err) == models.CodeNotFound {
		if visitorOf(r) != nil { // a second click, or the back button
			return seeOther(w, r, "/dashboard")
		}
		return h.linkGone(w, r, l.Intent)
	}
	if err != nil {
		return err
	}
	session, hash := newToken("ses_")
	in := store.SignIn{Link: secret.Hash(token), Session: hash, NewID: store.NewAccountID(), FirstKey: l.Intent != intentUpgrade}
	if old := h.token(r); old != "" {
		in.Old = secret.Hash(old)
	}
	done, err := h.signIn(r.Context(), l.EmailKey, in)
	if models.ErrorCode(err) == models.CodeNotFound {
		return h.linkGone(w, r, l.Intent)
	}
	if err != nil {
		return err
	}
	h.setCookie(w, session, models.SessionIdle)
	if l.Intent == intentUpgrade {
		err := h.toCheckout(w, r, done.Account.ID)
		if err != nil { // the visitor is signed in all the same, and can try again from the plan page
			h.deps.Log.ErrorContext(r.Context(), "no checkout can be opened", "account", done.Account.ID, "error", err)
			err = seeOther(w, r, "/dashboard/plan?from=checkout")
		}
		return err
	}
	if done.Key == "" {
		return seeOther(w, r, "/dashboard")
	}
	h.showKey(w, withVisitor(r, &visitor{Account: done.Account}), newKeyPage{Key: done.Key, First: true, Limit: done.Account.DailyLimit(h.deps.Plans)})
	return nil
}

// signIn signs in. A new account inherits the requests that accounts with the same address used before they were closed
// today. They are carried over before the account is created, so that nobody gains from a failure in between.
func (h *Handler) signIn(ctx context.Context, emailKey string, in store.SignIn) (store.SignedIn, error) {
	for attempt := 1; ; attempt++ {
		departed, err := h.deps.Store.Departures(ctx, emailKey)
		if err != nil {
			return store.SignedIn{}, err
		}
		if in.Carried, err = len(departed), h.carry(ctx, departed, in.NewID); err != nil {
			return store.SignedIn{}, err
		}
		done, err := h.deps.Store.SignIn(ctx, h.deps.Plans, in)
		if !errors.Is(err, store.ErrAccountChanged) || attempt == 5 {
			return done, err
		}
	}
}

// keysLive is longer than the keys of a closed account may still work on nodes that have not learned of it yet.
const keysLive = time.Second

// pause waits for d. If ctx ends first, it returns ctx's error.
func pause(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return nil
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// carry raises today's counter of the account named to, if need be, to the highest of the departed: the counter of each
// began with what those before it had used. It first waits until their keys have stopped working on all nodes.
func (h *Handler) carry(ctx context.Context, departed []store.Departed, to string) error {
	if len(departed) == 0 || h.deps.Counters == nil {
		return nil
	}
	look := make([]store.QuotaOp, len(departed))
	for i, d := range departed {
		look[i] = store.QuotaOp{Kind: store.QuotaPeek, Key: d.AccountID, Period: 24 * time.Hour}
		if err := pause(ctx, min(keysLive, d.At.Add(keysLive).Sub(h.deps.Now()))); err != nil {
			return err
		}
	}
	found, _, err := h.deps.Counters.ApplyQuota(ctx, look)
	if err != nil {
		return &models.Error{Code: models.CodeUnavailable, Message: "the counters do not answer", Err: err}
	}
	floor := store.QuotaOp{Kind: store.QuotaFloor, Key: to, Period: 24 * time.Hour}
	for _, f := range found {
		floor.N = max(floor.N, f.Used)
		floor.Start = f.Start
	}
	if floor.N == 0 {
		return nil
	}
	if _, _, err := h.deps.Counters.ApplyQuota(ctx, []store.QuotaOp{floor}); err != nil {
		return &models.Error{Code: models.CodeUnavailable, Message: "the counters do not answer", Err: err}
	}
	return nil
}
