package sandbox

import (
	"bytes"
	"errors"
	"io"
	"net/http"
)

// Transport reaches the sandbox without a network: an http.RoundTripper whose every request is answered here, whatever
// its host. A reply that is lost, and a hang that ends, are errors.
func (s *Sandbox) Transport() http.RoundTripper { return transport{s} }

type transport struct{ s *Sandbox }

// errNoReply is what a client sees of a connection that ended.
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

// memory is a response that is kept.
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
