package billing

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"lottery/configs"
	"lottery/models/store"
	"lottery/models/store/storetest"
)

// signed returns a header made as Stripe's documentation says, without Stripe's or our own code.
func signed(body string, at time.Time, secrets ...string) string {
	header := "t=" + strconv.FormatInt(at.Unix(), 10)
	for _, secret := range secrets {
		mac := hmac.New(sha256.New, []byte(secret))
		fmt.Fprintf(mac, "%d.%s", at.Unix(), body)
		header += ",v1=" + hex.EncodeToString(mac.Sum(nil))
	}
	return header
}

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func TestVerify(t *testing.T) {
	t.Parallel()
	const body, a, b = `{"id":"evt_1"}`, "whsec_a", "whsec_b"
	good := signed(body, noon, a)
	for name, c := range map[string]struct {
		header  string
		secrets []string
		ok      bool
	}{
		"good":                         {good, []string{a}, true},
		"spaces":                       {strings.ReplaceAll(good, ",", " , "), []string{a}, true},
		"300 s old":                    {signed(body, noon.Add(-300*time.Second), a), []string{a}, true},
		"301 s old":                    {signed(body, noon.Add(-301*time.Second), a), []string{a}, false},
		"300 s ahead":                  {signed(body, noon.Add(300*time.Second), a), []string{a}, true},
		"301 s ahead":                  {signed(body, noon.Add(301*time.Second), a), []string{a}, false},
		"the second secret":            {good, []string{b, a}, true},
		"the second signature":         {signed(body, noon, b, a), []string{a}, true},
		"two and two":                  {signed(body, noon, a, b), []string{a, b}, true},
		"another secret":               {good, []string{b}, false},
		"no secret":                    {good, nil, false},
		"an empty secret":              {signed(body, noon, ""), []string{""}, false},
		"an empty one beside":          {signed(body, noon, ""), []string{"", a}, false},
		"no header":                    {"", []string{a}, false},
		"no time":                      {good[strings.IndexByte(good, ',')+1:], []string{a}, false},
		"no signature":                 {good[:strings.IndexByte(good, ',')], []string{a}, false},
		"an old scheme":                {strings.ReplaceAll(good, "v1=", "v0="), []string{a}, false},
		"a time that is none":          {strings.Replace(good, "t=", "t=x", 1), []string{a}, false},
		"a time before 1970":           {strings.Replace(good, "t=", "t=-", 1), []string{a}, false},
		"two times, the signed first":  {strings.Replace(good, ",", ",t="+strconv.FormatInt(noon.Unix()+1, 10)+",", 1), []string{a}, false},
		"a signature cut":              {good[:len(good)-2], []string{a}, false},
		"upper case":                   {strings.ToUpper(good[len("t=1700000000,v1="):]), []string{a}, false},
		"a time beyond all":            {"t=99999999999999999999,v1=00", []string{a}, false},
		"a time that is nearly beyond": {"t=9223372036854775807,v1=00", []string{a}, false},
	} {
		if err := verify([]byte(body), c.header, c.secrets, noon); (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := verify([]byte(body+" "), good, []string{a}, noon); err == nil {
		t.Error("an altered body is believed")
	}
}

// The same limits over HTTP, with a controlled clock.
func TestWebhookTolerance(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		hook := New(Options{
			Store: st, Stripe: configs.Stripe{SecretKey: "sk_test_x", WebhookSecrets: []string{"whsec_a"}}, Now: func() time.Time { return noon },
		}).Webhook()
		for off, status := range map[int64]int{-301: 400, -300: 200, 0: 200, 300: 200, 301: 400} {
			body := fmt.Sprintf(`{"id":"evt_%d","object":"event","type":"invoice.paid","data":{"object":{}}}`, off+1000)
			r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, WebhookPath, strings.NewReader(body))
			r.Header.Set("Stripe-Signature", signed(body, time.Unix(noon.Unix()+off, 0), "whsec_a"))
			w := httptest.NewRecorder()
			hook.ServeHTTP(w, r)
			if w.Code != status {
				t.Errorf("%d s: %d", off, w.Code)
			}
		}
		if list, err := st.Events(t.Context(), store.EventFilter{}); err != nil || len(list) != 3 {
			t.Errorf("%v %+v", err, list)
		}
	})
}

// unread is a body that must not be read.
type unread struct{ t *testing.T }

func (b unread) Read([]byte) (int, error) {
	b.t.Error("the body is read")
	return 0, io.EOF
}

// Anybody may send forged events. They do not flood the log: each reason is logged once a minute, with a count.
func TestRefusalsAreToldOnceAMinute(t *testing.T) {
	t.Parallel()
	now := noon
	var log strings.Builder
	hook := New(Options{
		Stripe: configs.Stripe{SecretKey: "sk_test_x", WebhookSecrets: []string{"whsec_a"}}, Now: func() time.Time { return now },
		Log: slog.New(slog.NewTextHandler(&log, nil)),
	}).Webhook()
	send := func(times int, header string, body io.Reader) {
		for range times {
			r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, WebhookPath, body)
			if header != "" {
				r.Header.Set("Stripe-Signature", header)
			}
			w := httptest.NewRecorder()
			if hook.ServeHTTP(w, r); w.Code != http.StatusBadRequest {
				t.Errorf("%q: %d", header, w.Code)
			}
		}
	}
	told := func(want ...string) {
		t.Helper()
		var got []string
		for line := range strings.Lines(log.String()) {
			_, line, _ = strings.Cut(strings.TrimSpace(line), "reason=")
			got = append(got, line)
		}
		log.Reset()
		if !slices.EqualFunc(got, want, func(got, want string) bool {
			reason, times, _ := strings.Cut(want, " ")
			return strings.Contains(got, reason) && strings.HasSuffix(got, " times="+times)
		}) {
			t.Errorf("the log has %q, want %q", got, want)
		}
	}
	send(300, "", unread{t})
	told("missing 1")
	forged := signed("{}", noon, "whsec_b")
	send(5, forged, strings.NewReader("{}"))
	told("stripe_webhook_secret 1")
	now = noon.Add(59 * time.Second)
	send(1, "", unread{t})
	told()
	now = noon.Add(time.Minute)
	send(2, "", unread{t})
	send(1, forged, strings.NewReader("{}"))
	told("missing 301", "stripe_webhook_secret 5")
}

// An accepted event was signed with one of the secrets, within the tolerance.
func FuzzVerify(f *testing.F) {
	const body, a, b = `{"id":"evt_1"}`, "whsec_a", "whsec_b"
	for _, header := range []string{
		"", ",", "t=,v1=", signed(body, noon, a), signed(body, noon, b, a), signed(body, noon.Add(-301*time.Second), a), signed(body, noon, ""),
		"t=1,t=2,v1=00,v1=zz", "t=9223372036854775807,v1=00", "t=-9223372036854775808",
	} {
		f.Add([]byte(body), header)
	}
	f.Fuzz(func(t *testing.T, body []byte, header string) {
		if verify(body, header, []string{a, b, ""}, noon) != nil {
			return
		}
		var fits []string
		for off := -300; off <= 300; off++ {
			at := noon.Add(time.Duration(off) * time.Second)
			for _, secret := range []string{a, b} {
				fits = append(fits, signed(string(body), at, secret)[len("t=1700000000,v1="):])
			}
		}
		lower := strings.ToLower(header)
		if !slices.ContainsFunc(fits, func(mac string) bool { return strings.Contains(lower, mac) }) {
			t.Errorf("%q is believed for %q", header, body)
		}
	})
}

func TestParseEvent(t *testing.T) {
	t.Parallel()
	event := func(more string) string { return `{"id":"evt_1","object":"event","type":"invoice.paid",` + more + `}` }
	for text, want := range map[string]string{ // the customer, or "refused"
		event(`"data":{"object":{"customer":"cus_1"}}`):                                        "cus_1",
		event(`"data":{"object":{"customer":{"id":"cus_1","object":"customer"}}}`):             "cus_1",
		event(`"data":{"object":{"id":"cus_1","object":"customer"}}`):                          "cus_1",
		event(`"data":{"object":{"id":"cus_1","object":"customer","customer":"cus_2"}}`):       "cus_1",
		event(`"data":{"object":{"customer":null}}`):                                           "",
		event(`"data":{"object":{"customer":5}}`):                                              "",
		event(`"data":{"object":{"customer":["cus_1"]}}`):                                      "",
		event(`"data":{"object":{"customer":true}}`):                                           "",
		event(`"data":{"object":{"customer":{"id":7}}}`):                                       "",
		event(`"data":{"object":{"id":7,"object":{"a":1},"customer":"cus_1"}}`):                "cus_1",
		event(`"data":{"object":{"customer":"cus\u0000"}}`):                                    "",
		event(`"data":{"object":{"customer":"` + strings.Repeat("x", 256) + `"}}`):             "",
		event(`"data":{"object":[]}`):                                                          "",
		event(`"data":{"object":null}`):                                                        "",
		event(`"data":{}`):                                                                     "",
		event(`"data":null`):                                                                   "",
		event(`"account":"acct_1","context":{"a":[1]},"data":{"object":{"customer":"cus_1"}}`): "cus_1",
		event(`"api_version":null,"data":{"object":{"customer":"cus_1"}}`):                     "cus_1",
		event(`"data":5`):                                                                      "refused",
		event(`"created":-1`):                                                                  "refused",
		event(`"created":9223372036854775807`):                                                 "refused",
		event(`"created":1e300`):                                                               "refused",
		`{"id":"evt_1","object":"event","type":""}`:                                            "refused",
		`{"id":"evt_1","object":"event","type":"a\u0000b"}`:                                    "refused",
		`{"id":"evt_1","object":"v2.core.event","type":"invoice.paid"}`:                        "refused",
		`{"id":"evt_","object":"event","type":"invoice.paid"}`:                                 "refused",
		`{"id":"evt_\u0000","object":"event","type":"invoice.paid"}`:                           "refused",
		`{"id":"evt_1'; DROP","object":"event","type":"invoice.paid"}`:                         "refused",
		`{"id":"evt_ä","object":"event","type":"invoice.paid"}`:                                "refused",
		`{"id":"evt_` + strings.Repeat("1", 300) + `","object":"event","type":"invoice.paid"}`: "refused",
		`{"id":"in_1","object":"event","type":"invoice.paid"}`:                                 "refused",
		``: "refused", `null`: "refused", `[]`: "refused", `"evt_1"`: "refused", `{`: "refused",
	} {
		e, err := parseEvent([]byte(text))
		got := "refused"
		if err == nil {
			got = e.row().CustomerID
		}
		if got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

// Whatever parseEvent accepts can be stored: ids short enough for an index, without NUL, and a time that databases can
// hold.
func FuzzParseEvent(f *testing.F) {
	for _, text := range []string{
		`{"id":"evt_1","object":"event","type":"invoice.paid","created":1,"livemode":true,"data":{"object":{"id":"in_1","customer":"cus_1"}}}`,
		`{"id":"evt_1","object":"event","type":"customer.deleted","data":{"object":{"id":"cus_1","object":"customer"}}}`,
		`{"id":"evt_1","object":"event","type":"x","created":9e18,"data":{"object":{"customer":{"id":{}}}}}`, `{}`, `[`, "\xff",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		e, err := parseEvent(body)
		if err != nil {
			return
		}
		row := e.row()
		for _, word := range []string{row.ID, row.Type, row.APIVersion, row.ObjectID, row.CustomerID} {
			if len(word) > 255 || strings.ContainsRune(word, 0) || !utf8.ValidString(word) {
				t.Errorf("%q cannot be kept", word)
			}
		}
		if !strings.HasPrefix(row.ID, "evt_") || row.Type == "" || row.CreatedAt.Year() < 1970 || row.CreatedAt.Year() > 9999 {
			t.Errorf("%+v", row)
		}
	})
}
