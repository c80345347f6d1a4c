package web_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"lottery/models"
	"lottery/models/store"
)

// A key pasted as the name of another key is neither stored nor shown again.
func TestKeyIsNoName(t *testing.T) {
	t.Parallel()
	h := open(t, nil)
	p := h.person()
	key := keyForm.FindString(p.signIn("ada@example.com").text)
	got := p.post("/dashboard/keys", "name", "old: "+key, "expires", "90")
	got.says(t, http.StatusUnprocessableEntity, "That is an API key", `<option value="90" selected>`)
	if strings.Contains(got.text, key) || len(h.keysOf("ada@example.com")) != 1 {
		t.Errorf("it is a name now: %s", got.text)
	}
	_, err := h.store.CreateKey(t.Context(), models.DefaultPlans(), store.NewKey{Account: "ada@example.com", Name: key})
	if models.ErrorCode(err) != models.CodeInvalid || strings.Contains(err.Error(), key) {
		t.Errorf("%v", err)
	}
}

// Choices that the key forms do not offer are refused: a key must not live longer than requested.
func TestKeysLiveNoLonger(t *testing.T) {
	t.Parallel()
	h := open(t, nil)
	p := h.signedIn("ada@example.com")
	rotate := "/dashboard/keys/" + h.keysOf("ada@example.com")[0].ID + "/rotate"
	for _, expires := range []string{"7", "30d", "0", "never"} {
		p.post("/dashboard/keys", "name", "report", "expires", expires).says(t, http.StatusUnprocessableEntity, "Choose when the key expires", `value="report"`)
	}
	for _, grace := range []string{"0h", "0s", "30m", "-1"} {
		p.post(rotate, "grace", grace).says(t, http.StatusBadRequest, "Choose how long the old key keeps working")
	}
	if keys := h.keysOf("ada@example.com"); len(keys) != 1 || keys[0].GraceUntil != nil {
		t.Errorf("%v", keys)
	}
	p.post(rotate).says(t, http.StatusOK, "for 24 hours", "You have 100 requests a day")
}

// However often a key is rotated, the page of keys stays short; and the number of rotations is limited, but not
// that of revocations.
func TestKeysRotatedWithoutEnd(t *testing.T) {
	t.Parallel()
	h := open(t, nil)
	p := h.signedIn("ada@example.com")
	rotate := func() page {
		keys := h.keysOf("ada@example.com")
		return p.post("/dashboard/keys/"+keys[len(keys)-1].ID+"/rotate", "grace", "0")
	}
	for range 100 {
		rotate().says(t, http.StatusOK)
	}
	got := p.get("/dashboard/keys")
	got.says(t, http.StatusOK, "Keys that no longer work (100)")
	rotate().says(t, http.StatusTooManyRequests, "try again in a while")
	p.post("/dashboard/keys", "name", "another").says(t, http.StatusTooManyRequests)
	keys := h.keysOf("ada@example.com")
	if len(keys) != 101 {
		t.Errorf("%d keys", len(keys))
	}
	p.post("/dashboard/keys/" + keys[100].ID + "/revoke") // it may have leaked, and must stop at once
	if k := h.keysOf("ada@example.com")[100]; k.RevokedAt == nil {
		t.Error("a key cannot be revoked after many changes")
	}

	other := h.signedIn("eve@example.com")
	other.post("/dashboard/keys/"+h.keysOf("eve@example.com")[0].ID+"/rotate", "grace", "0").says(t, http.StatusOK)
	if n := strings.Count(got.text, "<code>ldk_"); n != 101 {
		t.Errorf("the page shows %d keys", n)
	}
}

// Rotating keeps a key's expiration date, so it does not help when a key is about to expire. The pages say so before
// and after, and promise no grace period beyond that date.
func TestRotatingKeepsTheDate(t *testing.T) {
	t.Parallel()
	h := open(t, nil)
	p := h.signedIn("ada@example.com")
	p.post("/dashboard/keys", "name", "report", "expires", "30").says(t, http.StatusOK, "Your new key", "It expires on ")
	h.clock.move(29 * 24 * time.Hour)
	p.signIn("ada@example.com")
	keys := h.keysOf("ada@example.com")
	k := keys[len(keys)-1]
	ends := k.ExpiresAt.UTC().Format("January 2, 2006, 15:04") + " UTC"
	p.get("/dashboard/keys/"+k.ID+"/rotate").says(t, http.StatusOK, "The new key expires when this one does, on "+ends)
	p.post("/dashboard/keys/"+k.ID+"/rotate", "grace", "168h").says(t, http.StatusOK,
		"keeps working until "+ends+", when it expires", "It expires on "+ends+": rotating keeps the expiration date")

	endless := "/dashboard/keys/" + keys[0].ID + "/rotate"
	asked, done := p.get(endless), p.post(endless, "grace", "168h")
	done.says(t, http.StatusOK, "keeps working for 7 days")
	if strings.Contains(asked.text+done.text, "expiration date") {
		t.Errorf("pages speak of a date where there is none: %s", done.text)
	}
	p.get("/docs/errors/expired_api_key").says(t, http.StatusOK, "a rotated key keeps its expiration date")
	p.get("/docs/authentication").says(t, http.StatusOK, "The new key keeps the old one's expiration date")
}

// What was already done to a key in one tab is not offered again in another.
func TestKeysInTwoTabs(t *testing.T) {
	t.Parallel()
	h := open(t, nil)
	p := h.signedIn("ada@example.com")
	rotated := "/dashboard/keys/" + h.keysOf("ada@example.com")[0].ID
	p.post(rotated+"/rotate", "grace", "24h").says(t, http.StatusOK)
	p.get(rotated+"/rotate").leads(t, "/dashboard/keys")
	p.get(rotated+"/revoke").says(t, http.StatusOK, "stops working within two seconds")
	p.post(rotated+"/revoke").leads(t, "/dashboard/keys")
	p.post("/dashboard/keys", "name", "report", "expires", "30").says(t, http.StatusOK)
	keys := h.keysOf("ada@example.com")
	h.clock.move(31 * 24 * time.Hour)
	p.signIn("ada@example.com")
	for _, dead := range []string{rotated, "/dashboard/keys/" + keys[len(keys)-1].ID} {
		p.get(dead+"/rotate").leads(t, "/dashboard/keys")
		p.get(dead+"/revoke").leads(t, "/dashboard/keys")
		p.post(dead+"/rotate", "grace", "24h").says(t, http.StatusConflict)
	}
	p.get("/dashboard/keys/key_nothing/rotate").says(t, http.StatusNotFound)
}

// The owner of a suspended account can still create keys, and is told that they do not work for now.
func TestKeysOfSuspended(t *testing.T) {
	t.Parallel()
	h := open(t, nil)
	p := h.signedIn("ada@example.com")
	const told = "Your account is suspended."
	if got := p.get("/dashboard/keys"); strings.Contains(got.text, told) {
		t.Error("the keys of an active account are said to be suspended")
	}
	if _, err := h.store.SetAccountStatus(t.Context(), h.account("ada@example.com").ID, models.AccountSuspended); err != nil {
		t.Fatal(err)
	}
	p.get("/dashboard/keys").says(t, http.StatusOK, told)
	p.post("/dashboard/keys", "name", "Cron").says(t, http.StatusOK, told, "This is the only time your key is shown")
}

func TestKeys(t *testing.T) {
	t.Parallel()
	h := open(t, nil)
	p := h.signedIn("ada@example.com")
	p.post("/dashboard/keys", "name", "").says(t, http.StatusUnprocessableEntity, "Give the key a name")
	p.post("/dashboard/keys", "name", strings.Repeat("x", 101), "expires", "90").says(t, http.StatusUnprocessableEntity, "at most 100", `<option value="90" selected>`)
	p.post("/dashboard/keys", "name", `<b>"report"</b>`, "expires", "30").says(t, http.StatusOK, "Your new key")
	p.get("/dashboard/keys").says(t, http.StatusOK, "&lt;b&gt;&#34;report&#34;&lt;/b&gt;")
	p.post("/dashboard/keys", "name", "third").says(t, http.StatusConflict, "no more live keys", `value="third"`)
	first := h.keysOf("ada@example.com")[0]
	p.get("/dashboard/keys/"+first.ID+"/rotate").says(t, http.StatusOK, "24 hours")
	p.post("/dashboard/keys/"+first.ID+"/rotate", "grace", "1h").says(t, http.StatusOK, "keeps working for one hour")
	p.post("/dashboard/keys/"+first.ID+"/rotate", "grace", "1h").says(t, http.StatusConflict, "has already been rotated: only an active key can be rotated; if you did not see the key that replaced it, rotate that one")
	p.get("/dashboard/keys/"+first.ID+"/revoke").says(t, http.StatusOK, "cannot be undone")
	p.post("/dashboard/keys/"+first.ID+"/revoke").leads(t, "/dashboard/keys")
	p.get("/dashboard/keys").says(t, http.StatusOK, "Keys that no longer work (1)")
	h.clock.move(31 * 24 * time.Hour)
	p.signIn("ada@example.com")
	p.get("/dashboard/keys").says(t, http.StatusOK, "Keys that no longer work (2)", "expired")
}
