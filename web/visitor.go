package web

import (
	"context"
	"net/http"
	"strings"
	"time"

	"lottery/models"
	"lottery/models/secret"
)

// visitor is the account and session of a signed-in visitor.
type visitor struct {
	Account models.Account
	Session models.Session
}

// Email returns the visitor's email address.
func (v *visitor) Email() string {
	if v.Account.Email == nil {
		return ""
	}
	return *v.Account.Email
}

// EmailHalves returns the visitor's email address in two parts, between which a line may break.
func (v *visitor) EmailHalves() [2]string {
	local, domain, _ := strings.Cut(v.Email(), "@")
	return [2]string{local, "@" + domain}
}

type contextKey int

const (
	visitorKey contextKey = iota // *visitor
	unknownKey                   // error: why nobody knows who it is
)

// visitorOf returns the signed-in visitor, or nil.
func visitorOf(r *http.Request) *visitor {
	v, _ := r.Context().Value(visitorKey).(*visitor)
	return v
}

// withVisitor returns r as that of a visitor; nil = signed out.
func withVisitor(r *http.Request, v *visitor) *http.Request {
	return r.WithContext(context.WithValue(r.Context(), visitorKey, v))
}

// cookieName returns the name of the session cookie. With https, the __Host- prefix makes browsers reject a cookie that
// another host or a plain connection has set.
func (h *Handler) cookieName() string {
	if h.secure {
		return "__Host-session"
	}
	return "session"
}

func (h *Handler) setCookie(w http.ResponseWriter, value string, age time.Duration) {
	http.SetCookie(w, &http.Cookie{ //nolint:gosec // G124: Secure wherever the service is reached by https
		Name: h.cookieName(), Value: value, Path: "/", MaxAge: int(age / time.Second),
		HttpOnly: true, Secure: h.secure, SameSite: http.SameSiteLaxMode,
	})
}

// token returns the session token that the browser sent, or "".
func (h *Handler) token(r *http.Request) string {
	c, err := r.Cookie(h.cookieName())
	if err != nil || len(c.Value) > 100 {
		return ""
	}
	return c.Value
}

// recognised looks up the signed-in visitor for all pages of next. While the database is down, it treats everybody as
// signed out but keeps the error, which pages that need a visitor return (unknown).
func (h *Handler) recognised(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if token := h.token(r); token != "" {
			ctx, cancel := glance(r.Context())
			found, err := h.deps.Store.Visitor(ctx, secret.Hash(token))
			cancel()
			switch {
			case err == nil:
				r = withVisitor(r, &visitor{found.Account, found.Session})
				h.setCookie(w, token, models.SessionIdle) // every use extends it
			case models.ErrorCode(err) == models.CodeNotFound:
				h.setCookie(w, "", -time.Second)
			default:
				r = r.WithContext(context.WithValue(r.Context(), unknownKey, err))
			}
		}
		next.ServeHTTP(w, r)
	})
}

// glance bounds the wait for data that a page can do without.
func glance(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, 3*time.Second)
}

// signedIn is a page that needs a signed-in visitor.
type signedIn func(w http.ResponseWriter, r *http.Request, v *visitor) error

// required redirects to the sign-in page if nobody is signed in.
func (h *Handler) required(f signedIn) http.HandlerFunc {
	return h.do(func(w http.ResponseWriter, r *http.Request) error {
		if v := visitorOf(r); v != nil {
			return f(w, r, v)
		}
		if err := unknown(r); err != nil {
			return err
		}
		return seeOther(w, r, "/sign-in")
	})
}

// unknown returns the error that kept recognised from finding out who is signed in, or nil.
func unknown(r *http.Request) error {
	err, _ := r.Context().Value(unknownKey).(error)
	return err
}

// newToken returns a random token that begins with prefix, and its hash. Only the hash is stored.
func newToken(prefix string) (token string, hash [32]byte) {
	token = secret.NewID(prefix) + secret.NewID("")
	return token, secret.Hash(token)
}
