package billing_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"lottery/billing"
	"lottery/billing/sandbox"
	"lottery/models"
)

const (
	day   = 24 * time.Hour
	month = 31 * day
)

func cause() billing.Cause { return billing.Cause{Actor: "operator", Reason: "test"} }

func TestFault07OldSubscriptionDeletedAfterNew(t *testing.T) {
	each(t, func(w *world) {
		t := w.t
		_ = t
		old := w.pro()
		w.must(w.stripe.SetStatus(old, "unpaid"))
		_, err := w.stripe.NewSubscription(w.customer(), w.price, "active", nil)
		w.must(err)
		w.settle()
		w.wantPlan(models.PlanPro)
		w.must(w.stripe.Cancel(old))
		w.settle()
		w.wantPlan(models.PlanPro)
	})
}

func TestFault08OtherProduct(t *testing.T) {
	each(t, func(w *world) {
		t := w.t
		_ = t
		w.checkout()
		socks, err := w.stripe.NewSubscription(w.customer(), w.otherPrice(""), "active", nil)
		w.must(err)
		w.settle()
		w.wantPlan(models.PlanFree)
		w.buy(sandbox.CardOK)
		w.settle()
		w.wantPlan(models.PlanPro)
		w.must(w.stripe.Cancel(socks))
		w.settle()
		w.wantPlan(models.PlanPro)
		w.wantFlags()
	})
}

func TestFault09TwoTabsBothPaid(t *testing.T) {
	each(t, func(w *world) {
		t := w.t
		_ = t
		first := w.pro()
		w.stripe.Advance(time.Minute)
		second, err := w.stripe.NewSubscription(w.customer(), w.price, "active", nil)
		w.must(err)
		w.settle()
		w.wantPlan(models.PlanPro)
		w.wantFlags(models.FlagDoublePayment)
		for _, sub := range w.stripe.Subscriptions(w.customer()) {
			if want := map[string]string{first: "active", second: "canceled"}[sub.ID]; sub.Status != want {
				t.Errorf("%s is %s, want %s", sub.ID, sub.Status, want)
			}
		}
		w.wantMails(models.MailWelcomePro)
	})
}

func TestFault10PaysAgain(t *testing.T) {
	each(t, func(w *world) {
		t := w.t
		_ = t
		w.stripe.FaultDelivery(sandbox.DeliveryFault{Action: sandbox.Drop})
		w.buy(sandbox.CardOK)
		_, err := w.billing.Checkout(t.Context(), w.account.ID)
		if models.ErrorCode(err) != models.CodeConflict || !strings.Contains(err.Error(), "portal") {
			t.Errorf("%v", err)
		}
		w.wantPlan(models.PlanPro) // asking has told
		url, err := w.billing.Portal(t.Context(), w.account.ID)
		if err != nil || !strings.HasPrefix(url, w.api.URL) {
			t.Errorf("%q %v", url, err)
		}
		w.onlySubscription()
	})
}

func TestFault11TwoCustomers(t *testing.T) {
	each(t, func(w *world) {
		t := w.t
		_ = t
		w.pro()
		stray := w.foreignCustomer(map[string]string{"lottery_account": w.account.ID})
		sub, err := w.stripe.NewSubscription(stray, w.price, "active", nil)
		w.must(err)
		w.settle()
		w.wantFlags(models.FlagSecondCustomer)
		w.wantPlan(models.PlanPro)
		w.must(w.stripe.Cancel(sub))
		w.settle()
		w.wantPlan(models.PlanPro)
	})
}

func TestFault12SuccessPageBeforeAnyWebhook(t *testing.T) {
	each(t, func(w *world) {
		t := w.t
		_ = t
		w.stripe.FaultDelivery(sandbox.DeliveryFault{Action: sandbox.Hold})
		session := w.buy(sandbox.CardOK)
		arrived, _, err := w.billing.Return(t.Context(), w.account.ID, session)
		if err != nil || arrived != billing.ArrivedPro {
			t.Fatalf("%s %v", arrived, err)
		}
		w.wantPlan(models.PlanPro)
		w.stripe.ClearFaults()
		_, err = w.stripe.Release(t.Context(), sandbox.OrderRandom)
		w.must(err)
		w.settle()
		w.wantMails(models.MailWelcomePro)
	})
}

func TestFault13RedirectNeverHappens(t *testing.T) {
	each(t, func(w *world) { w.pro() })
}

func TestFault14SessionHasNoSubscriptionYet(t *testing.T) {
	each(t, func(w *world) {
		t := w.t
		_ = t
		w.stripe.FaultAPI(sandbox.APIFault{Action: sandbox.Withhold})
		w.stripe.FaultEvent(sandbox.EventFault{Type: "customer.subscription.*", Skip: true})
		w.stripe.FaultEvent(sandbox.EventFault{Type: "invoice.*", Skip: true})
		session := w.buy(sandbox.CardOK)
		if arrived, _, err := w.billing.Return(t.Context(), w.account.ID, session); err != nil || (arrived != billing.ArrivedPending && arrived != billing.ArrivedPro) {
			t.Errorf("%s %v", arrived, err)
		}
		w.stripe.ClearFaults()
		w.settle()
		w.wantPlan(models.PlanPro)
	})
}

func TestFault15PaidLater(t *testing.T) {
	for card, want := range map[sandbox.Card]models.Plan{sandbox.BankPays: models.PlanPro, sandbox.BankFails: models.PlanFree} {
		t.Run(string(card), func(t *testing.T) {
			each(t, func(w *world) {
				t := w.t
				_ = t
				session := w.buy(card)
				w.settle()
				w.wantPlan(models.PlanFree)
				if arrived, _, err := w.billing.Return(t.Context(), w.account.ID, session); err != nil || arrived != billing.ArrivedPending {
					t.Errorf("%s %v", arrived, err)
				}
				if _, err := w.billing.Checkout(t.Context(), w.account.ID); models.ErrorCode(err) != models.CodeConflict {
					t.Errorf("a second checkout: %v", err)
				}
				w.stripe.Advance(4 * day)
				w.settle()
				w.wantPlan(want)
			})
		})
	}
}

func TestFault16SomebodyElsesSession(t *testing.T) {
	each(t, func(w *world) {
		t := w.t
		_ = t
		session := w.buy(sandbox.CardOK)
		thief := w.newAccount()
		_, _, stolen := w.billing.Return(t.Context(), thief.ID, session)
		_, _, missing := w.billing.Return(t.Context(), thief.ID, "cs_test_none")
		if models.ErrorCode(stolen) != models.CodeNotFound || missing == nil || stolen.Error() != missing.Error() {
			t.Errorf("%v; %v", stolen, missing)
		}
		if a, err := w.store.Account(t.Context(), thief.ID); err != nil || a.BilledPlan != nil {
			t.Errorf("%v %+v", err, a)
		}
	})
}

func TestFault20CustomerDeleted(t *testing.T) {
	each(t, func(w *world) {
		t := w.t
		_ = t
		w.pro()
		dead := w.customer()
		w.must(w.stripe.DeleteCustomer(dead))
		w.settle()
		w.wantPlan(models.PlanFree)
		w.wantMails(models.MailWelcomePro, models.MailProEnded)
		w.buy(sandbox.CardOK)
		w.settle()
		w.wantPlan(models.PlanPro)
		if w.customer() == dead {
			t.Error("the dead customer is used again")
		}
	})
}

func TestFault31ThreeDaysWithoutWebhooks(t *testing.T) {
	each(t, func(w *world) {
		t := w.t
		_ = t
		w.stripe.FaultDelivery(sandbox.DeliveryFault{Action: sandbox.Drop})
		paid := w.account
		w.buy(sandbox.CardOK)
		w.account = w.newAccount()
		w.buy(sandbox.CardOK)
		w.must(w.stripe.Cancel(w.onlySubscription()))
		w.stripe.Advance(3 * day)
		w.settle()
		done, err := w.billing.Reconcile(t.Context(), nil)
		if err != nil || done.Accounts != 2 || !done.Whole || len(done.Drifts) != 1 || done.Drifts[0].AccountID != paid.ID {
			t.Errorf("%v %+v", err, done)
		}
		w.wantPlan(models.PlanFree)
		w.account = paid
		w.wantPlan(models.PlanPro)
		if again, err := w.billing.Reconcile(t.Context(), nil); err != nil || len(again.Drifts) != 0 {
			t.Errorf("again: %v %+v", err, again)
		}
	})
}

func TestFault32EventNeverGenerated(t *testing.T) {
	each(t, func(w *world) {
		t := w.t
		_ = t
		w.stripe.FaultEvent(sandbox.EventFault{Skip: true})
		w.buy(sandbox.CardOK)
		w.settle()
		w.wantPlan(models.PlanFree)
		_, err := w.billing.Reconcile(t.Context(), nil)
		w.must(err)
		w.wantPlan(models.PlanPro)
	})
}

func TestFault33RenewalFailsThenPaid(t *testing.T) {
	each(t, func(w *world) {
		t := w.t
		_ = t
		sub := w.pro()
		w.must(w.stripe.SetCard(w.customer(), sandbox.CardDeclined))
		w.stripe.Advance(month)
		w.settle()
		if status := w.stripe.Subscriptions(w.customer())[0].Status; status != "past_due" {
			t.Fatalf("the subscription is %s", status)
		}
		w.wantPlan(models.PlanPro)
		w.must(w.stripe.SetCard(w.customer(), sandbox.CardOK))
		w.must(w.stripe.RetryPayment(sub))
		w.settle()
		w.wantPlan(models.PlanPro)
		w.wantMails(models.MailWelcomePro, models.MailPaymentFailed)
		if changes, err := w.store.AuditOf(t.Context(), w.account.ID, 10); err != nil || len(changes) != 1 {
			t.Errorf("%v %+v", err, changes)
		}
	})
}

func TestFault34PastDueBeyondGrace(t *testing.T) {
	each(t, func(w *world) {
		t := w.t
		_ = t
		sub := w.pro()
		w.must(w.stripe.SetCard(w.customer(), sandbox.CardDeclined))
		w.must(w.stripe.Renew(sub))
		w.settle()
		w.wantPlan(models.PlanPro)
		w.stripe.Advance(6 * day)
		w.settle()
		w.wantPlan(models.PlanPro)
		w.stripe.FaultDelivery(sandbox.DeliveryFault{Action: sandbox.Drop}) // it ends without any event
		w.stripe.Advance(day + time.Hour)
		_, err := w.billing.Sync(t.Context(), w.account.ID, cause())
		w.must(err)
		w.wantPlan(models.PlanFree)
		w.wantMails(models.MailWelcomePro, models.MailPaymentFailed, models.MailProEnded)
	})
}

func TestFault34StatesThatGiveNothing(t *testing.T) {
	each(t, func(w *world) {
		t := w.t
		_ = t
		for _, status := range []string{"unpaid", "canceled", "incomplete", "incomplete_expired", "paused"} {
			w.account = w.newAccount()
			sub := w.pro()
			w.must(w.stripe.SetStatus(sub, status))
			w.settle()
			if got := w.plan(); got != models.PlanFree {
				t.Errorf("%s gives %s", status, got)
			}
		}
		for _, status := range []string{"trialing", "active"} {
			w.account = w.newAccount()
			w.checkout()
			_, err := w.stripe.NewSubscription(w.customer(), w.price, status, nil)
			w.must(err)
			w.settle()
			if got := w.plan(); got != models.PlanPro {
				t.Errorf("%s gives %s", status, got)
			}
		}
	})
}

func TestFault35CancelAtPeriodEndThenUndone(t *testing.T) {
	each(t, func(w *world) {
		t := w.t
		_ = t
		sub := w.pro()
		w.must(w.stripe.CancelAtPeriodEnd(sub, true))
		w.settle()
		w.wantPlan(models.PlanPro)
		w.must(w.stripe.CancelAtPeriodEnd(sub, false))
		w.stripe.Advance(month)
		w.settle()
		w.wantPlan(models.PlanPro)
		w.must(w.stripe.CancelAtPeriodEnd(sub, true))
		w.stripe.Advance(month)
		w.settle()
		w.wantPlan(models.PlanFree)
		w.wantMails(models.MailWelcomePro, models.MailProEnded)
	})
}

func TestFault36EmailChangedInThePortal(t *testing.T) {
	each(t, func(w *world) {
		t := w.t
		_ = t
		w.pro()
		other := w.newAccount()
		w.must(w.stripe.SetEmail(w.customer(), *other.Email))
		w.settle()
		_, err := w.billing.Sync(t.Context(), other.ID, cause())
		w.must(err)
		w.wantPlan(models.PlanPro)
		w.account = other
		w.wantPlan(models.PlanFree)
	})
}

func TestFault37Refunds(t *testing.T) {
	each(t, func(w *world) {
		t := w.t
		_ = t
		sub := w.pro()
		_, err := w.stripe.Refund(sub, 300)
		w.must(err)
		w.settle()
		w.wantPlan(models.PlanPro)
		w.wantFlags(models.FlagRefund)
		_, err = w.stripe.Refund(sub, 699)
		w.must(err)
		w.settle()
		w.wantPlan(models.PlanPro)
		w.wantFlags(models.FlagRefund, models.FlagRefund)
		n, err := w.store.ClearFlags(t.Context(), w.account.ID)
		if err != nil || n != 2 {
			t.Errorf("%d %v", n, err)
		}
		w.wantFlags()
	})
}

func TestFault38Disputes(t *testing.T) {
	each(t, func(w *world) {
		t := w.t
		_ = t
		sub := w.pro()
		for _, inquiry := range []bool{true, false} {
			dispute, err := w.stripe.Dispute(sub, inquiry)
			w.must(err)
			w.settle()
			w.wantPlan(models.PlanPro)
			if !slices.Contains(w.flags(), models.FlagDispute) {
				t.Errorf("inquiry %v: flags %v", inquiry, w.flags())
			}
			before := len(w.flags())
			status := "lost"
			if inquiry {
				status = "warning_closed"
			}
			w.must(w.stripe.CloseDispute(dispute, status))
			w.settle()
			w.wantPlan(models.PlanPro)
			if len(w.flags()) <= before {
				t.Errorf("inquiry %v: its end is not told: %v", inquiry, w.flags())
			}
		}
	})
}

func TestFault39PriceChangedInTheDashboard(t *testing.T) {
	each(t, func(w *world) {
		t := w.t
		_ = t
		sub := w.pro()
		w.must(w.stripe.SetPrice(sub, w.otherPrice("lottery_pro")))
		w.settle()
		w.wantPlan(models.PlanFree)
		w.wantFlags(models.FlagUnknownPrice)
		if _, err := w.billing.Checkout(t.Context(), w.account.ID); models.ErrorCode(err) != models.CodeConflict {
			t.Errorf("a checkout beside it: %v", err)
		}
		w.must(w.stripe.SetPrice(sub, w.price))
		w.settle()
		w.wantPlan(models.PlanPro)
	})
}

func TestFault42MoreSubscriptionsThanAPage(t *testing.T) {
	each(t, func(w *world) {
		t := w.t
		_ = t
		live := w.pro()
		for range 230 { // newer ones come first
			_, err := w.stripe.NewSubscription(w.customer(), w.price, "canceled", nil)
			w.must(err)
		}
		w.settle()
		w.wantPlan(models.PlanPro)
		w.must(w.stripe.Cancel(live))
		_, err := w.billing.Sync(t.Context(), w.account.ID, cause())
		w.must(err)
		w.wantPlan(models.PlanFree)
	})
}

func TestFault43OperatorsGrant(t *testing.T) {
	each(t, func(w *world) {
		t := w.t
		_ = t
		pro := models.PlanPro
		sub := w.pro()
		_, err := w.store.GrantPlan(t.Context(), w.account.ID, &pro)
		w.must(err)
		w.must(w.stripe.Cancel(sub))
		w.settle()
		w.wantPlan(models.PlanPro)
		_, err = w.store.GrantPlan(t.Context(), w.account.ID, nil)
		w.must(err)
		w.wantPlan(models.PlanFree)
	})
}
