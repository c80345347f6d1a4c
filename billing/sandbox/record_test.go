package sandbox_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"sync"
	"testing"
	"time"

	"lottery/billing/sandbox/sandboxtest"
)

func TestMain(m *testing.M) {
	code := m.Run()
	if mock.stop != nil {
		mock.stop()
	}
	os.Exit(code)
}

// mock is stripe-mock, started when a test first needs it.
var mock struct {
	once sync.Once
	url  string
	err  error
	stop func()
}

func mockURL() (string, error) {
	mock.once.Do(func() { mock.url, mock.stop, mock.err = sandboxtest.StartMock(context.Background()) })
	return mock.url, mock.err
}

// recorder sends each request to the sandbox and, if that succeeds, to stripe-mock, which must accept it. The sandbox's
// response must match the OpenAPI document and stripe-mock's own response.
type recorder struct {
	t    *testing.T
	seen func(o map[string]any) // every object in an answer
}

func (rc recorder) RoundTrip(r *http.Request) (*http.Response, error) {
	var body []byte
	if r.Body != nil {
		body, _ = io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
	}
	resp, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	got, err := io.ReadAll(resp.Body)
	resp.Body.Close()
	if err != nil {
		return nil, err
	}
	resp.Body = io.NopCloser(bytes.NewReader(got))
	if v := r.Header.Get("Stripe-Version"); v == pinned {
		rc.check(r, body, resp, got)
	}
	return resp, nil
}

const pinned = "2023-10-16"

func (rc recorder) check(r *http.Request, body []byte, resp *http.Response, got []byte) {
	rc.t.Helper()
	var answer any
	if err := json.Unmarshal(got, &answer); err != nil {
		rc.t.Errorf("%s %s: %v in %s", r.Method, r.URL.Path, err, got)
		return
	}
	if resp.StatusCode != http.StatusOK {
		for _, e := range validate("error", answer) {
			rc.t.Errorf("%s %s %d: %s", r.Method, r.URL.Path, resp.StatusCode, e)
		}
		return
	}
	for _, e := range validateAnswer(r.Method, r.URL.Path, answer) {
		rc.t.Errorf("%s %s: %s", r.Method, r.URL.Path, e)
	}
	want, err := rc.ask(r, body)
	if err != nil {
		rc.t.Errorf("stripe-mock: %s %s %s: %v", r.Method, r.URL, body, err)
		return
	}
	for _, e := range lacking("", want, answer) {
		rc.t.Errorf("%s %s: stripe-mock has %s, the sandbox has not", r.Method, r.URL.Path, e)
	}
	if rc.seen != nil {
		eachObject(answer, rc.seen)
	}
}

// ask sends a request to stripe-mock.
func (rc recorder) ask(r *http.Request, body []byte) (any, error) {
	base, err := mockURL()
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequest(r.Method, base+r.URL.RequestURI(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	for _, k := range []string{"Content-Type", "Stripe-Version", "Idempotency-Key"} {
		req.Header.Set(k, r.Header.Get(k))
	}
	req.Header.Set("Authorization", "Bearer sk_test_123")
	c := http.Client{Timeout: 20 * time.Second}
	resp, err := c.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%d %s", resp.StatusCode, b)
	}
	var answer any
	err = json.Unmarshal(b, &answer)
	return answer, err
}

// eachObject calls f for every Stripe object within a value.
func eachObject(v any, f func(map[string]any)) {
	switch v := v.(type) {
	case []any:
		for _, x := range v {
			eachObject(x, f)
		}
	case map[string]any:
		if _, ok := v["object"].(string); ok {
			f(v)
		}
		for _, x := range v {
			eachObject(x, f)
		}
	}
}
