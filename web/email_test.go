package web_test

import (
	"net/http"
	"strings"
	"testing"
)

func TestChangeEmail(t *testing.T) {
	t.Parallel()
	h := open(t, nil)
	h.person().signIn("taken@example.com")
	p := h.signedIn("ada@example.com")
	id := h.account("ada@example.com").ID
	p.post("/dashboard/account/email", "email", "nonsense").says(t, http.StatusUnprocessableEntity, `value="nonsense"`, "name@example.com")
	p.post("/dashboard/account/email", "email", "ada@xn--.com").says(t, http.StatusUnprocessableEntity, "name@example.com")
	p.post("/dashboard/account/email", "email", "ada@example.com").says(t, http.StatusUnprocessableEntity, "already")
	p.post("/dashboard/account/email", "email", "lovelace@example.com").says(t, http.StatusOK, "We sent a link")
	if h.account("ada@example.com").ID != id {
		t.Fatal("the address changed before it was confirmed")
	}
	token := h.tokenOf("lovelace@example.com")
	h.person().get("/dashboard/account/email/confirm?token="+token).says(t, http.StatusOK, "Use lovelace@example.com", "The account of ada@example.com")
	h.person().post("/dashboard/account/email/confirm", "token", token).says(t, http.StatusOK, "Your address has changed")
	if h.account("lovelace@example.com").ID != id {
		t.Error("the address is not the account's")
	}
	if told := h.box.All()[0]; told.To != "ada@example.com" || !strings.Contains(told.Text(), "lovelace@example.com") {
		t.Errorf("the old address was not told: %+v", told)
	}
	p.get("/dashboard").leads(t, "/sign-in") // signed out, since the link was used elsewhere
	p.signIn("lovelace@example.com")
	p.get("/dashboard").says(t, http.StatusOK, "lovelace<wbr>@example.com")
	p.post("/dashboard/account/email", "email", "Taken@example.com").says(t, http.StatusOK, "We sent a link") // as for an unused address
	h.person().post("/dashboard/account/email/confirm", "token", h.tokenOf("Taken@example.com")).says(t, http.StatusConflict, "another account")
}

// The browser in which the link is used stays signed in; a stranger's, who was signed in to the account before, does not.
func TestChangeEmailSignsOthersOut(t *testing.T) {
	t.Parallel()
	h := open(t, nil)
	p, stranger, bob := h.signedIn("ada@example.com"), h.signedIn("ada@example.com"), h.signedIn("bob@example.com")
	p.post("/dashboard/account/email", "email", "lovelace@example.com").says(t, http.StatusOK, "We sent a link")
	p.post("/dashboard/account/email/confirm", "token", h.tokenOf("lovelace@example.com")).says(t, http.StatusOK, "Other browsers have been signed out")
	p.get("/dashboard").says(t, http.StatusOK, "lovelace<wbr>@example.com")
	bob.get("/dashboard").says(t, http.StatusOK, "bob<wbr>@example.com")
	stranger.get("/dashboard").leads(t, "/sign-in")
}

// A link mailed to a mistyped address stops working once another one is requested, and stays so after that one is used.
// Signing out everywhere voids a pending link.
func TestChangeEmailSuperseded(t *testing.T) {
	t.Parallel()
	h := open(t, nil)
	p, stranger := h.person(), h.person()
	p.signIn("ada@example.com")
	id := h.account("ada@example.com").ID
	dead := func(token string) {
		t.Helper()
		stranger.get("/dashboard/account/email/confirm?token="+token).says(t, http.StatusGone, "no longer works")
		stranger.post("/dashboard/account/email/confirm", "token", token).says(t, http.StatusGone, "no longer works")
	}
	p.post("/dashboard/account/email", "email", "typo@example.com").says(t, http.StatusOK, "We sent a link")
	typo := h.tokenOf("typo@example.com")
	p.post("/dashboard/account/email", "email", "right@example.com").says(t, http.StatusOK, "We sent a link")
	dead(typo)
	p.post("/dashboard/account/email/confirm", "token", h.tokenOf("right@example.com")).says(t, http.StatusOK, "Your address has changed")
	dead(typo)
	p.post("/dashboard/account/email", "email", "typo@example.com").says(t, http.StatusOK, "We sent a link")
	p.post("/dashboard/account/sign-out").leads(t, "/sign-in")
	dead(h.tokenOf("typo@example.com"))
	if h.account("right@example.com").ID != id {
		t.Error("the account is not at the address that was confirmed")
	}
}
