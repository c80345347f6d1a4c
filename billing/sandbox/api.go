package sandbox

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
)

// request is an API request being processed.
type request struct {
	p      *params
	id     string // in the path
	path   string
	expand []string
}

// reply is a response before it is sent.
type reply struct {
	status int
	body   []byte
	header map[string]string
}

const mostBody = 1 << 20

// serveAPI checks a request's key, applies faults and idempotency, and calls the handler.
func (s *Sandbox) serveAPI(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, mostBody))
	if err != nil {
		answer(w, r, "", failure(invalid("", "", "The request's body could not be read, or has more than %d bytes.", mostBody), ""))
		return
	}
	s.mu.Lock()
	s.catchUp()
	s.d.Requests++
	id := s.newRequestID()
	fault := s.faults.takeAPI(r.Method, r.URL.Path)
	s.noteCall(r, id, body, fault)
	key := s.keyOf(r)
	if key != "" && s.inflight[key] {
		s.mu.Unlock()
		answer(w, r, id, failure(keyInUse(key), id))
		return
	}
	s.inflight[key] = true
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		delete(s.inflight, key)
		s.mu.Unlock()
	}()

	if !fault.before(s.ctx, r.Context()) {
		cut(w, reply{status: http.StatusBadGateway, body: []byte(" ")})
	}
	rep, done := fault.instead()
	if !done {
		rep = s.process(r, id, string(body), fault)
	}
	if fault.Action == LoseReply {
		cut(w, rep)
	}
	answer(w, r, id, rep)
}

// cut ends the connection after the head of the response. Ending it before would not do: if a reused connection yields
// nothing at all, Go's client silently resends a request that has an idempotency key.
func cut(w http.ResponseWriter, rep reply) {
	w.Header().Set("Content-Length", strconv.Itoa(len(rep.body)))
	w.WriteHeader(rep.status)
	_ = http.NewResponseController(w).Flush() // where it can
	panic(http.ErrAbortHandler)
}

// process answers a request that the faults let through.
func (s *Sandbox) process(r *http.Request, id, body string, fault APIFault) reply {
	if err := s.authorize(r); err != nil {
		return failure(err, id)
	}
	if r.Method == http.MethodPost && strings.HasPrefix(r.Header.Get("Content-Type"), "application/json") {
		return failure(invalid("", "", "Invalid request (check that your POST content type is application/x-www-form-urlencoded). If you have questions, we can help at https://support.stripe.com/."), id)
	}
	version, err := versionOf(r.Header.Get("Stripe-Version"))
	if err != nil {
		return failure(err, id)
	}
	h, req, err := route(r)
	if err != nil {
		return failure(err, id)
	}
	form, err := parseForm(r.URL.RawQuery + "&" + body)
	if err != nil {
		return failure(err, id)
	}
	req.p = newParams(form)

	s.mu.Lock()
	defer s.mu.Unlock()
	key := s.keyOf(r)
	if len(key) > 255 {
		return failure(invalid("", "", "Idempotency keys are up to 255 characters long."), id)
	}
	if key != "" {
		if rep, found := s.replay(key, r.URL.Path, form.String()); found {
			return rep
		}
	}
	s.origin = r.Host
	if fault.Action == NewShape {
		version = NewVersion
	}
	rep, _ := APIFault{Action: ServerError}.instead()
	if fault.Action != ErrorStays {
		done := s.execute(h, req, id, version, fault)
		if fault.Action != ErrorAfter {
			rep = done
		}
	}
	if key != "" && rep.status != http.StatusUnauthorized {
		s.remember(key, r.URL.Path, form.String(), id, rep)
	}
	s.catchUp()
	s.saveSoon()
	return rep
}

// execute runs a handler and writes what it returns.
func (s *Sandbox) execute(h handler, req *request, id, version string, fault APIFault) reply {
	req.expand, _ = req.p.strs("expand")
	o, err := h(s, req)
	if err == nil {
		fault.alter(o)
		err = s.expandAll(o, req.expand)
	}
	if err != nil {
		return failure(err, id)
	}
	return reply{status: http.StatusOK, body: encode(reshape(o, version))}
}

// failure returns the response for an error.
func failure(err error, id string) reply {
	e, ok := errors.AsType[*apiError](err)
	if !ok {
		e = &apiError{status: http.StatusInternalServerError, Type: internalError, Message: err.Error()}
	}
	out := *e
	if out.Code != "" {
		out.DocURL = "https://stripe.com/docs/error-codes/" + strings.ReplaceAll(out.Code, "_", "-")
	}
	if id != "" {
		out.LogURL = "https://dashboard.stripe.com/test/logs/" + id
	}
	return reply{status: e.status, body: encode(object{"error": out}), header: e.header}
}

// answer sends a reply.
func answer(w http.ResponseWriter, r *http.Request, id string, rep reply) {
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "no-cache, no-store")
	if id != "" {
		h.Set("Request-Id", id)
	}
	if v := r.Header.Get("Stripe-Version"); v != "" && rep.status < http.StatusBadRequest {
		h.Set("Stripe-Version", v)
	} else {
		h.Set("Stripe-Version", pinnedVersion)
	}
	if key := r.Header.Get("Idempotency-Key"); key != "" {
		h.Set("Idempotency-Key", key)
	}
	for k, v := range rep.header {
		h.Set(k, v)
	}
	h.Set("Content-Length", strconv.Itoa(len(rep.body)))
	w.WriteHeader(rep.status)
	_, _ = w.Write(rep.body) // the client may be gone
}

// authorize checks the secret key, as bearer or as the user name of basic authentication.
func (s *Sandbox) authorize(r *http.Request) error {
	key, _, basic := r.BasicAuth()
	if !basic {
		key, _ = strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	}
	if key == s.opts.SecretKey {
		return nil
	}
	return unauthorized(key)
}

// handler answers a request with an object in the shape of 2023-10-16 or an *apiError. s.mu is held.
type handler func(s *Sandbox, r *request) (object, error)

// get returns the handler that shows one object.
func get[T record](noun string) handler {
	return func(s *Sandbox, r *request) (object, error) {
		o, err := named[T](s, r, noun)
		if err != nil {
			return nil, err
		}
		return o.render(s), nil
	}
}

// named finishes the parameters of a request and returns the record whose id is in its path.
func named[T record](s *Sandbox, r *request, noun string) (T, error) {
	if err := r.p.finish(); err != nil {
		var none T
		return none, err
	}
	return need[T](s, noun, r.id, "")
}

// route finds the handler of /v1/RESOURCE, /v1/RESOURCE/ID or /v1/RESOURCE/ID/ACTION.
func route(r *http.Request) (handler, *request, error) {
	parts := strings.Split(strings.Trim(strings.TrimPrefix(r.URL.Path, "/v1/"), "/"), "/")
	key, rest := parts[0], parts[1:]
	if (key == "checkout" || key == "billing_portal") && len(rest) > 0 {
		key, rest = key+"/"+rest[0], rest[1:]
	}
	req := &request{path: r.URL.Path}
	if len(rest) > 0 {
		key, req.id, rest = key+"/:id", rest[0], rest[1:]
	}
	if len(rest) > 0 {
		key, rest = key+"/"+rest[0], rest[1:]
	}
	h, ok := routes[r.Method+" "+key]
	if !ok || len(rest) > 0 {
		return nil, nil, &apiError{status: http.StatusNotFound, Type: invalidRequest, Message: fmt.Sprintf("Unrecognized request URL (%s: %s). Please see https://stripe.com/docs or we can help at https://support.stripe.com/.", r.Method, r.URL.Path)}
	}
	return h, req, nil
}
