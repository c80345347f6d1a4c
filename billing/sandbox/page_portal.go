package sandbox

import (
	"net/http"
	"net/url"
	"slices"
)

// portalView is what the portal shows.
type portalView struct {
	top

	Headline, Return, Email, Card              string
	Subs                                       []portalSub
	Invoices                                   []portalInvoice
	Cards                                      []cardChoice
	AtOnce                                     bool // cancelling takes effect at once
	CardAllowed, EmailAllowed, InvoicesAllowed bool
}

type portalSub struct {
	ID, Name, Price, Every, Status, Ends, Renews, Ended string
	CanCancel, CanUndo                                  bool
}

type portalInvoice struct {
	ID, Number, Date, Total, Status string
	CanPay                          bool
}

func (s *Sandbox) portalPage(w http.ResponseWriter, r *http.Request) {
	var view portalView
	var known, lives bool
	s.do(func() {
		var ps *portalSession
		if ps, lives = s.portal(r.PathValue("id")); ps != nil {
			known, view = true, s.viewPortal(ps)
		}
	})
	switch {
	case !known:
		say(w, http.StatusNotFound, "No such page", "This URL does not belong to a portal session.", "")
	case !lives:
		say(w, http.StatusGone, "Too late", "This link has expired. Start again where you came from.", view.Return)
	default:
		view.Note = portalNotes[r.URL.Query().Get("note")]
		show(w, http.StatusOK, "portal", view)
	}
}

func (s *Sandbox) viewPortal(ps *portalSession) portalView {
	c, _ := find[*customer](s, ps.Customer)
	g, _ := find[*portalConfig](s, ps.Config)
	v := portalView{
		top: top{Title: "Your subscription"}, Headline: g.Headline, Return: ps.ReturnURL, Email: c.Email, Card: "None.",
		AtOnce: g.CancelMode == "immediately", CardAllowed: g.MethodUpdate && !c.Deleted, EmailAllowed: g.mayChangeEmail() && !c.Deleted,
		InvoicesAllowed: g.InvoiceHistory,
	}
	for _, k := range cards {
		if k.Card != CardDeclined { // refused when entered, also at Stripe
			v.Cards = append(v.Cards, k)
		}
	}
	if card := s.paysWith(c); card != CardNone {
		v.Card = "Card ending in " + card.last4() + "."
	}
	for _, sub := range slices.Backward(s.d.Subs.of(c.ID)) {
		v.Subs = append(v.Subs, s.viewSub(sub, g))
	}
	for _, inv := range slices.Backward(s.d.Invoices.of(c.ID)) {
		if inv.Status != invoiceDraft {
			v.Invoices = append(v.Invoices, portalInvoice{
				inv.ID, inv.Number, date(inv.Created), money(inv.Total, inv.Currency), inv.Status, inv.Status == invoiceOpen && inv.SettlesAt == 0,
			})
		}
	}
	return v
}

func (s *Sandbox) viewSub(sub *subscription, g *portalConfig) portalSub {
	p := sub.price(s)
	prod, _ := find[*product](s, p.Product)
	v := portalSub{
		ID: sub.ID, Name: prod.Name, Price: money(p.Amount, p.Currency), Every: p.every(), Status: sub.Status,
		CanCancel: g.Cancel && !sub.ended() && !sub.AtPeriodEnd, CanUndo: g.Cancel && !sub.ended() && sub.AtPeriodEnd,
	}
	switch {
	case sub.ended():
		v.Ended = date(sub.EndedAt)
	case sub.AtPeriodEnd:
		v.Ends = date(sub.PeriodEnd)
	default:
		v.Renews = date(sub.PeriodEnd)
	}
	return v
}

func (g *portalConfig) mayChangeEmail() bool {
	return g.CustomerUpdate && slices.Contains(g.AllowedUpdates, "email")
}

// portalNotes holds what the portal says after a button was pressed, by the word in its URL.
var portalNotes = map[string]string{
	"cancelled": "The subscription has been canceled.",
	"ends":      "The subscription will end with the current period.",
	"goes_on":   "The subscription will continue.",
	"card":      "The payment method has been changed.",
	"email":     "The email address has been changed.",
	"paid":      "The invoice is being paid.",
	"declined":  "The payment was declined.",
	"no":        "That is not possible here.",
}

// portalPost does what a button of the portal says, if the configuration allows it, and shows the portal again.
func (s *Sandbox) portalPost(w http.ResponseWriter, r *http.Request) {
	if !form(w, r) {
		return
	}
	note := "no"
	s.do(func() {
		ps, lives := s.portal(r.PathValue("id"))
		if !lives {
			return
		}
		c, _ := find[*customer](s, ps.Customer)
		g, _ := find[*portalConfig](s, ps.Config)
		if !c.Deleted {
			note = s.portalDo(c, g, r)
		}
	})
	leave(w, r, "/p/session/"+url.PathEscape(r.PathValue("id"))+"?note="+note)
}

// portalDo does one thing and returns its note.
func (s *Sandbox) portalDo(c *customer, g *portalConfig, r *http.Request) string {
	switch do := r.PostFormValue("do"); do {
	case "cancel", "undo":
		sub, ok := find[*subscription](s, r.PostFormValue("subscription"))
		if !ok || sub.Customer != c.ID || sub.ended() || !g.Cancel {
			return "no"
		}
		return s.portalCancel(sub, do == "cancel", g.CancelMode == "immediately")
	case "card":
		card := Card(r.PostFormValue("card"))
		if g.MethodUpdate && card != CardNone && card != CardDeclined && card.Valid() {
			s.setCard(c, card)
			return "card"
		}
	case "email":
		if email := r.PostFormValue("email"); email != "" && g.mayChangeEmail() {
			s.change(c, "customer.updated", func() { c.Email = email })
			return "email"
		}
	case "pay":
		if inv, ok := find[*invoice](s, r.PostFormValue("invoice")); ok && inv.Customer == c.ID && g.InvoiceHistory {
			return s.portalPay(inv)
		}
	}
	return "no"
}

func (s *Sandbox) portalPay(inv *invoice) string {
	switch {
	case inv.Status != invoiceOpen || inv.SettlesAt != 0:
		return "no"
	case s.attempt(inv, false) || inv.SettlesAt != 0:
		return "paid"
	default:
		return "declined"
	}
}

func (s *Sandbox) portalCancel(sub *subscription, cancel, atOnce bool) string {
	if cancel && atOnce {
		s.end(sub, "cancellation_requested")
		return "cancelled"
	}
	s.changeSub(sub, func() { sub.schedule(s, cancel) })
	if cancel {
		return "ends"
	}
	return "goes_on"
}
