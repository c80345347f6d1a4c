package web_test

import (
	"context"
	"net/http"
	"net/url"
	"testing"
	"time"

	"lottery/models"
	"lottery/models/secret"
	"lottery/models/store"
	"lottery/models/store/storetest"
)

func TestLinks(t *testing.T) {
	t.Parallel()
	h := open(t, nil)
	p := h.person()
	p.post("/sign-in", "email", "ada@example.com")
	token := h.tokenOf("ada@example.com")

	for range 3 { // a mail scanner
		got := h.person().get("/sign-in/link?token=" + token)
		got.says(t, http.StatusOK, "Sign in as ada@example.com")
		if got.header.Get("Set-Cookie") != "" {
			t.Error("opening a link signs in")
		}
	}
	for name, wrong := range map[string]string{"empty": "", "unknown": "lnk_x", "changed": token + "x"} {
		h.person().get("/sign-in/link?token="+url.QueryEscape(wrong)).says(t, http.StatusGone, "no longer works")
		if got := h.person().post("/sign-in/link", "token", wrong); got.status != http.StatusGone {
			t.Errorf("%s: %d", name, got.status)
		}
	}
	p.post("/sign-in/link", "token", token).says(t, http.StatusOK, "Welcome")
	h.person().post("/sign-in/link", "token", token).says(t, http.StatusGone, "no longer works")
	p.post("/sign-in/link", "token", token).leads(t, "/dashboard") // the same person, a second click
	h.person().post("/dashboard/account/email/confirm", "token", token).says(t, http.StatusGone)

	late := h.person()
	late.post("/sign-in", "email", "late@example.com")
	token = h.tokenOf("late@example.com")
	h.clock.move(models.LinkLives - time.Second)
	late.get("/sign-in/link?token="+token).says(t, http.StatusOK, "Sign in as")
	h.clock.move(2 * time.Second)
	late.get("/sign-in/link?token="+token).says(t, http.StatusGone)
	late.post("/sign-in/link", "token", token).says(t, http.StatusGone, "Request a new link")
	if _, err := h.store.Account(context.Background(), "late@example.com"); models.ErrorCode(err) != models.CodeNotFound {
		t.Errorf("an expired link made an account: %v", err)
	}
}

// Of many concurrent uses of a link, exactly one succeeds.
func TestLinkSpentOnce(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		hash := secret.Hash("lnk_token")
		if err := st.CreateLink(t.Context(), store.NewLink{Hash: hash, Purpose: models.LinkSignIn, Email: "ada@example.com", PerHour: 5}); err != nil {
			t.Fatal(err)
		}
		results := make(chan error)
		for i := range 8 {
			go func() {
				_, err := st.SignIn(context.Background(), models.DefaultPlans(), store.SignIn{
					Link: hash, Session: secret.Hash(string(rune('a' + i))), NewID: store.NewAccountID(), FirstKey: true,
				})
				results <- err
			}()
		}
		good := 0
		for range 8 {
			switch err := <-results; {
			case err == nil:
				good++
			case models.ErrorCode(err) != models.CodeNotFound:
				t.Errorf("a spent link: %v", err)
			}
		}
		if good != 1 {
			t.Errorf("%d signed in with one link", good)
		}
	})
}
