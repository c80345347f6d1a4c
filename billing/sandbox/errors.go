package sandbox

import (
	"fmt"
	"net/http"
	"strings"
)

// apiError is an error as Stripe's API returns it.
type apiError struct {
	status  int
	Type    string `json:"type"`
	Code    string `json:"code,omitempty"`
	DocURL  string `json:"doc_url,omitempty"`
	Message string `json:"message"`
	Param   string `json:"param,omitempty"`
	LogURL  string `json:"request_log_url,omitempty"`
	header  map[string]string
}

func (e *apiError) Error() string { return fmt.Sprintf("%d %s: %s", e.status, e.Code, e.Message) }

// The types of error.
const (
	invalidRequest   = "invalid_request_error"
	idempotencyError = "idempotency_error"
	internalError    = "api_error"
)

// invalid returns a 400 about a parameter.
func invalid(param, code, format string, args ...any) *apiError {
	return &apiError{status: http.StatusBadRequest, Type: invalidRequest, Code: code, Param: param, Message: fmt.Sprintf(format, args...)}
}

// missing returns Stripe's error for an unknown id: 404 if the id was in the path, else 400.
func missing(noun, id, param string) *apiError {
	e := invalid(param, "resource_missing", "No such %s: '%s'", noun, id)
	if param == "" {
		e.status, e.Param = http.StatusNotFound, "id"
	}
	return e
}

func unauthorized(key string) *apiError {
	e := &apiError{status: http.StatusUnauthorized, Type: invalidRequest, header: map[string]string{"WWW-Authenticate": `Basic realm="Stripe"`}}
	if key == "" {
		e.Message = "You did not provide an API key. You need to provide your API key in the Authorization header, using Bearer auth (e.g. 'Authorization: Bearer YOUR_SECRET_KEY')."
		return e
	}
	e.Message = "Invalid API Key provided: " + mask(key)
	return e
}

// mask hides a key except for its kind and its end, as Stripe does.
func mask(key string) string {
	const shown = 4
	if len(key) <= 3*shown {
		return strings.Repeat("*", len(key))
	}
	return key[:2*shown] + strings.Repeat("*", len(key)-3*shown) + key[len(key)-shown:]
}
