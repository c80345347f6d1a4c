package sandbox

import (
	"encoding/json"
	"net"
	"net/http"
	"time"
)

// localOnly refuses requests from other machines: the controls need no key.
func localOnly(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if host, _, err := net.SplitHostPort(r.RemoteAddr); r.RemoteAddr != "" && (err != nil || !net.ParseIP(host).IsLoopback()) {
			http.Error(w, "The sandbox's controls answer this machine only.", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// moneyBack is what the controls for refunds and disputes take, each of them what its method does.
type moneyBack struct {
	ID      string
	Cents   int64
	Inquiry bool
	Status  string
}

// controls serves the time machine and, as JSON, what can only be done over HTTP in a demo: what its pages do not offer,
// and faults. An order that cannot be carried out gets a 422 with {"error"}.
func (s *Sandbox) controls() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /_sandbox", s.machinePage)
	mux.HandleFunc("POST /_sandbox/machine", s.machineMove)
	mux.HandleFunc("GET /_sandbox/state", func(w http.ResponseWriter, _ *http.Request) {
		tell(w, map[string]any{"subscriptions": s.Subscriptions(""), "checkout_sessions": s.Sessions("")}, nil)
	})
	post(mux, "/_sandbox/advance", func(o *struct{ By string }) (any, error) { // such as 72h
		by, err := time.ParseDuration(o.By)
		s.Advance(by)
		return s.Now(), err
	})
	post(mux, "/_sandbox/pay", func(o *struct {
		Session string
		Card    Card
	},
	) (any, error) {
		_, paid, err := s.Pay(o.Session, o.Card)
		return paid, err
	})
	post(mux, "/_sandbox/refund", func(o *moneyBack) (any, error) { return true, s.Refund(o.ID, o.Cents) })
	post(mux, "/_sandbox/dispute", func(o *moneyBack) (any, error) { return s.Dispute(o.ID, o.Inquiry) })
	post(mux, "/_sandbox/dispute/close", func(o *moneyBack) (any, error) { return true, s.CloseDispute(o.ID, o.Status) })
	post(mux, "/_sandbox/faults/api", func(f *APIFault) (any, error) { s.FaultAPI(*f); return true, nil })
	post(mux, "/_sandbox/faults/delivery", func(f *DeliveryFault) (any, error) { s.FaultDelivery(*f); return true, nil })
	post(mux, "/_sandbox/release", func(o *struct{ Order string }) (any, error) { return s.Release(s.ctx, o.Order) })
	mux.HandleFunc("DELETE /_sandbox/faults", func(w http.ResponseWriter, _ *http.Request) { s.ClearFaults(); tell(w, true, nil) })
	return mux
}

// post adds a control whose body is JSON.
func post[T any](mux *http.ServeMux, path string, f func(*T) (any, error)) {
	mux.HandleFunc("POST "+path, func(w http.ResponseWriter, r *http.Request) {
		in := new(T)
		if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<16)).Decode(in); err != nil {
			tell(w, nil, err)
			return
		}
		out, err := f(in)
		tell(w, out, err)
	})
}

// tell writes a control's response.
func tell(w http.ResponseWriter, v any, err error) {
	w.Header().Set("Content-Type", "application/json")
	if err != nil {
		w.WriteHeader(http.StatusUnprocessableEntity)
		v = map[string]any{"error": err.Error()}
	}
	_, _ = w.Write(encode(v)) // the client may be gone
}
