package sandbox

import (
	"slices"
	"strings"
)

// endpoint is a URL that receives webhooks.
type endpoint struct {
	head

	URL         string   `json:"url"`
	Description string   `json:"description"`
	Enabled     []string `json:"enabled_events"`
	Version     string   `json:"api_version"`
	Disabled    bool     `json:"disabled"`
	Deleted     bool     `json:"deleted"`
	Secret      string   `json:"secret"`
	OldSecret   string   `json:"old_secret"` // also signs until OldUntil
	OldUntil    int64    `json:"old_until"`
}

func (e *endpoint) render(s *Sandbox) object {
	if e.Deleted {
		return object{"id": e.ID, "object": "webhook_endpoint", "deleted": true}
	}
	status := "enabled"
	if e.Disabled {
		status = "disabled"
	}
	return object{
		"id": e.ID, "object": "webhook_endpoint", "created": e.Created, "livemode": s.live, "metadata": meta(e.Metadata),
		"api_version": orNull(e.Version), "application": nil, "description": orNull(e.Description), "enabled_events": anys(e.Enabled),
		"status": status, "url": e.URL,
	}
}

// wants reports whether the endpoint receives events of a type.
func (e *endpoint) wants(event string) bool {
	return !e.Disabled && !e.Deleted && (slices.Contains(e.Enabled, "*") || slices.Contains(e.Enabled, event))
}

// secrets returns the secrets that sign for the endpoint at now: two while a secret is being rolled.
func (e *endpoint) secrets(now int64) []string {
	if e.OldSecret != "" && now < e.OldUntil {
		return []string{e.Secret, e.OldSecret}
	}
	return []string{e.Secret}
}

func (e *endpoint) read(s *Sandbox, p *params) {
	p.set("description", &e.Description)
	e.Metadata = p.metadata(e.Metadata)
	if v, ok := p.strs("enabled_events"); ok {
		e.Enabled = v
		if len(v) == 0 {
			p.fail(invalid("enabled_events", "parameter_invalid_empty", "You must provide at least one event."))
		}
	}
	v, ok := p.opt("url")
	if !ok {
		return
	}
	e.URL = v
	switch {
	case !strings.HasPrefix(v, "https://") && !strings.HasPrefix(v, "http://"):
		p.fail(invalid("url", "url_invalid", "Invalid URL: An explicit scheme (such as https) must be provided."))
	case s.live && !strings.HasPrefix(v, "https://"):
		p.fail(invalid("url", "url_invalid", "Invalid URL: URL must use HTTPS in live mode."))
	}
}

func (s *Sandbox) endpoint(id string) (*endpoint, error) {
	e, err := need[*endpoint](s, "webhook endpoint", id, "")
	if err == nil && e.Deleted {
		return nil, missing("webhook endpoint", id, "")
	}
	return e, err
}

func createEndpoint(s *Sandbox, r *request) (object, error) {
	e := &endpoint{}
	r.p.need("url")
	e.read(s, r.p)
	if e.Enabled == nil {
		r.p.fail(invalid("enabled_events", "parameter_missing", "Missing required param: enabled_events."))
	}
	if v, ok := r.p.opt("api_version"); ok {
		e.Version = v
		if _, err := versionOf(v); err != nil {
			r.p.fail(err)
		}
	}
	if err := r.p.finish(); err != nil {
		return nil, err
	}
	e.Secret = s.newID("whsec_", secretID)
	insert(s, &s.d.Endpoints, e, "we_1", longID-1)
	o := e.render(s)
	o["secret"] = e.Secret // shown only now
	return o, nil
}

func getEndpoint(s *Sandbox, r *request) (object, error) {
	if err := r.p.finish(); err != nil {
		return nil, err
	}
	e, err := s.endpoint(r.id)
	if err != nil {
		return nil, err
	}
	return e.render(s), nil
}

func updateEndpoint(s *Sandbox, r *request) (object, error) {
	e, err := s.endpoint(r.id)
	if err != nil {
		return nil, err
	}
	next := *e
	next.read(s, r.p)
	if v, ok := r.p.bool("disabled"); ok {
		next.Disabled = v
	}
	if err := r.p.finish(); err != nil {
		return nil, err
	}
	*e, s.dirty = next, true
	return e.render(s), nil
}

func deleteEndpoint(s *Sandbox, r *request) (object, error) {
	if err := r.p.finish(); err != nil {
		return nil, err
	}
	e, err := s.endpoint(r.id)
	if err != nil {
		return nil, err
	}
	e.Deleted, s.dirty = true, true
	return e.render(s), nil
}

func listEndpoints(s *Sandbox, r *request) (object, error) {
	return list(s, r, "webhook endpoint", s.d.Endpoints.rows, func(e *endpoint) bool { return !e.Deleted })
}
