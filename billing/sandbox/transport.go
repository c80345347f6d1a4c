package sandbox

import (
	"bytes"
	"errors"
	"io"
	"net/http"
)

// Transport returns an http.RoundTripper that reaches the sandbox without a network. It answers every request, whatever
// its host. A lost reply, and a hang that ends, are errors.
func (s *Sandbox) Transport() http.RoundTripper { return transport{s} }

type transport struct{ s *Sandbox }

// errNoReply is what a client sees if the connection ends without a response.
var errNoReply = errors.New("sandbox: the connection ended without an answer")

func (t transport) RoundTrip(r *http.Request) (resp *http.Response, err error) {
	in := r.Clone(r.Context())
	in.Host, in.RequestURI = r.URL.Host, r.URL.RequestURI()
	if in.Body == nil {
		in.Body = http.NoBody
	} else {
		defer in.Body.Close() //nolint:errcheck // the contract of RoundTripper; nobody to tell
	}
	w := &memory{header: http.Header{}}
	defer func() {
		switch v := recover(); v {
		case nil:
		case http.ErrAbortHandler:
			resp, err = nil, errNoReply
			if ctxErr := r.Context().Err(); ctxErr != nil {
				err = ctxErr
			}
		default:
			panic(v)
		}
	}()
	t.s.ServeHTTP(w, in)
	if w.status == 0 {
		w.status = http.StatusOK
	}
	return &http.Response{
		Status: http.StatusText(w.status), StatusCode: w.status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: w.header,
		Body: io.NopCloser(&w.body), ContentLength: int64(w.body.Len()), Request: r,
	}, nil
}

// memory is an http.ResponseWriter that keeps the response.
type memory struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (m *memory) Header() http.Header { return m.header }

func (m *memory) WriteHeader(status int) {
	if m.status == 0 {
		m.status = status
	}
}

func (m *memory) Write(b []byte) (int, error) {
	m.WriteHeader(http.StatusOK)
	return m.body.Write(b)
}
