package web

import (
	"net/http"

	"lottery/models"
)

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

// supportHint returns support's address in parentheses, to follow "contact support"; "" if there is none.
func supportHint(address string) string {
	if address == "" {
		return ""
	}
	return " (" + address + ")"
}
