package web

import (
	"context"
	"net/http"
	"time"

	"lottery/billing"
	"lottery/models"
)

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
	h.show(w, withVisitor(r, nil), view{Page: "message", Title: "Your account is closed", Private: true, Data: message{bye, "/", "Go to the home page"}})
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
