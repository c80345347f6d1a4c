package web_test

import (
	"net/http"
	"strings"
	"testing"
)

// However often somebody rotates a key, the page of keys stays short; and not without end.
func TestKeysRotatedWithoutEnd(t *testing.T) {
	t.Parallel()
	h := open(t, nil)
	p := h.person()
	p.signIn("ada@example.com")
	rotate := func() page {
		keys := h.keysOf("ada@example.com")
		return p.post("/dashboard/keys/"+keys[len(keys)-1].ID+"/rotate", "grace", "0")
	}
	for range 100 {
		rotate().says(t, http.StatusOK)
	}
	got := p.get("/dashboard/keys")
	got.says(t, http.StatusOK, "Keys that do not work any more (100)")
	rotate().says(t, http.StatusTooManyRequests, "try again in a while")
	p.post("/dashboard/keys", "name", "another").says(t, http.StatusTooManyRequests)
	if n := len(h.keysOf("ada@example.com")); n != 101 {
		t.Errorf("%d keys", n)
	}

	other := h.person()
	other.signIn("eve@example.com")
	other.post("/dashboard/keys/"+h.keysOf("eve@example.com")[0].ID+"/rotate", "grace", "0").says(t, http.StatusOK)
	if n := strings.Count(got.text, "<code>ldk_"); n != 101 {
		t.Errorf("the page shows %d keys", n)
	}
}
