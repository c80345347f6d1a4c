package store_test

import (
	"fmt"
	"strings"
	"testing"

	"lottery/models"
	"lottery/models/store"
	"lottery/models/store/storetest"
)

// An operator corrects an account's address or name. Another address ends its sessions and its links to others, and is
// owed to Stripe; another spelling of it is only owed. The audit log names neither.
func TestCorrectAccount(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		logged := 0
		eve := signIn(t, st, "eve@example.com", "eve", "")
		for i, c := range []struct {
			in                       store.AccountCorrection
			code                     models.Code
			email, name, log         string
			signedIn, linkWorks, owe bool
		}{
			{in: store.AccountCorrection{Name: new("Ann")}, email: "ann@exmaple.com", name: "Ann", log: "another name", signedIn: true, linkWorks: true},
			{in: store.AccountCorrection{Email: new("Ann@exmaple.com")}, email: "Ann@exmaple.com", log: "another address", signedIn: true, linkWorks: true, owe: true},
			{in: store.AccountCorrection{Email: new(" ann@example.com ")}, email: "ann@example.com", log: "another address", owe: true},
			{in: store.AccountCorrection{Email: new("ann@example.com"), Name: new("Ann")}, email: "ann@example.com", name: "Ann", log: "another address and name", owe: true},
			{in: store.AccountCorrection{Email: new("ann@exmaple.com"), Name: new("")}, email: "ann@exmaple.com", signedIn: true, linkWorks: true},
			{in: store.AccountCorrection{Email: new("EVE@example.com")}, code: models.CodeConflict, email: "ann@exmaple.com", signedIn: true, linkWorks: true},
			{in: store.AccountCorrection{Email: new("ann@localhost")}, code: models.CodeInvalid, email: "ann@exmaple.com", signedIn: true, linkWorks: true},
			{in: store.AccountCorrection{Name: new(strings.Repeat("x", 201))}, code: models.CodeInvalid, email: "ann@exmaple.com", signedIn: true, linkWorks: true},
		} {
			session, customer := fmt.Sprint("ann", i), "cus_ann"
			ann := signIn(t, st, "ann@exmaple.com", session, "")
			pay(t, st, models.BillingAccount{AccountID: ann.ID, CustomerID: &customer})
			link := createLink(t, st, store.NewLink{Purpose: models.LinkChangeEmail, AccountID: ann.ID, Email: fmt.Sprint("new", i, "@example.com")})

			ctx := store.WithOperator(t.Context(), &store.Operator{Who: "grace", Command: "accounts set"})
			if _, err := st.CorrectAccount(ctx, ann.ID, c.in); models.ErrorCode(err) != c.code {
				t.Fatalf("%d: %v, want %q", i, err, c.code)
			}
			after, err := st.Account(t.Context(), ann.ID)
			if err != nil || *after.Email != c.email || *after.EmailKey != models.EmailKey(c.email) || after.Name != c.name {
				t.Errorf("%d: %+v, %v", i, after, err)
			}
			log, err := st.Audit(t.Context(), store.AuditFilter{AccountID: ann.ID, Limit: 1})
			if c.code == "" {
				logged++
			}
			if err != nil || c.code == "" && (log[0].Became != c.log || log[0].Was != "" || log[0].Who != "grace") {
				t.Errorf("%d: %+v, %v", i, log, err)
			}
			if got := lives(t, st, session); got != c.signedIn {
				t.Errorf("%d: signed in: %v", i, got)
			}
			if _, err := st.Link(t.Context(), link, models.LinkChangeEmail); (err == nil) != c.linkWorks {
				t.Errorf("%d: the link to a new address: %v", i, err)
			}
			mark, err := st.EmailOwed(t.Context(), ann.ID)
			if err != nil || (mark != "") != c.owe {
				t.Errorf("%d: owed to Stripe: %q, %v", i, mark, err)
			}
			if _, err := st.CorrectAccount(t.Context(), ann.ID, store.AccountCorrection{Email: new("ann@exmaple.com"), Name: new("")}); err != nil {
				t.Fatal(err)
			}
			if mark, err = st.EmailOwed(t.Context(), ann.ID); err != nil {
				t.Fatal(err)
			}
			if err := st.EmailTold(t.Context(), ann.ID, mark); err != nil {
				t.Fatal(err)
			}
		}
		if log, err := st.Audit(t.Context(), store.AuditFilter{Limit: 99}); err != nil || len(log) != logged {
			t.Errorf("%d entries, want %d, %v", len(log), logged, err)
		}
		if !lives(t, st, "eve") {
			t.Errorf("%s was signed out", eve.ID)
		}
	})
}
