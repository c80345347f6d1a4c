package sandbox

import "net/http"

// checkoutView is what the checkout page shows.
type checkoutView struct {
	top

	Lines    []checkoutLine
	Total    string
	Email    string
	Cards    []cardChoice
	CancelTo string // "" = the seller gave no URL to go back to
}

type checkoutLine struct {
	Name, Text, Price, Every string
	Quantity                 int64
}

func (s *Sandbox) checkoutPage(w http.ResponseWriter, r *http.Request) { s.showCheckout(w, r, "") }

// showCheckout shows an open session, or says why it cannot be paid.
func (s *Sandbox) showCheckout(w http.ResponseWriter, r *http.Request, note string) {
	var view checkoutView
	status := ""
	var next string
	s.do(func() {
		if cs, ok := find[*session](s, r.PathValue("id")); ok {
			status, view, next = cs.Status, s.viewCheckout(cs), cs.success()
		}
	})
	switch status {
	case "":
		say(w, http.StatusNotFound, "No such checkout", "This URL does not belong to a checkout session.", "")
	case sessionComplete:
		say(w, http.StatusOK, "Already paid", "This checkout is complete. It cannot be paid twice.", next)
	case sessionExpired:
		say(w, http.StatusGone, "Too late", "This checkout has expired. Start again where you came from.", "")
	default:
		view.Note = note
		code := http.StatusOK
		if note != "" {
			code = http.StatusPaymentRequired
		}
		show(w, code, "checkout", view)
	}
}

func (s *Sandbox) viewCheckout(cs *session) checkoutView {
	total, currency := cs.total(s)
	v := checkoutView{top: top{Title: "Subscribe"}, Total: money(total, currency), Cards: cards}
	if cs.CancelURL != "" {
		v.CancelTo = "/c/cancel/" + cs.ID
	}
	if c, ok := find[*customer](s, cs.Customer); ok {
		v.Email = c.Email
	}
	for _, l := range cs.Lines {
		p, _ := find[*price](s, l.Price)
		prod, _ := find[*product](s, p.Product)
		v.Lines = append(v.Lines, checkoutLine{prod.Name, prod.Description, money(p.Amount, p.Currency), p.every(), l.Quantity})
	}
	return v
}

// checkoutPay pays and redirects. A second click, even a simultaneous one, pays nothing more.
func (s *Sandbox) checkoutPay(w http.ResponseWriter, r *http.Request) {
	if !form(w, r) {
		return
	}
	card := Card(r.PostFormValue("card"))
	if card == CardNone || !card.Valid() {
		s.showCheckout(w, r, "Choose a card.")
		return
	}
	next, ok, open := "", false, false
	s.do(func() {
		if cs, found := find[*session](s, r.PathValue("id")); found {
			open = cs.Status == sessionOpen
			next, ok = s.pay(cs, card)
		}
	})
	switch {
	case ok:
		leave(w, r, next)
	case open:
		s.showCheckout(w, r, "Your card was declined. Nothing was paid.")
	default:
		s.showCheckout(w, r, "")
	}
}

// checkoutCancel redirects back without paying. The session stays open, as it does at Stripe.
func (s *Sandbox) checkoutCancel(w http.ResponseWriter, r *http.Request) {
	to := ""
	s.do(func() {
		if cs, ok := find[*session](s, r.PathValue("id")); ok {
			to = cs.CancelURL
		}
	})
	if to == "" {
		say(w, http.StatusNotFound, "No such checkout", "This URL does not belong to a checkout session.", "")
		return
	}
	leave(w, r, to)
}
