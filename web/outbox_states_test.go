package web_test

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"lottery/models"
	"lottery/models/store"
	"lottery/models/store/storetest"
	"lottery/web/mail"
)

// perDay matches what a mail says of a daily limit, and the words before it.
var perDay = regexp.MustCompile(`(\S+ \S+ )?([\d,]+) requests a day`)

// Whatever state an account is in, a mail to it says nothing of its plan, its limit and its keys that is not so.
func TestMailsInAllStates(t *testing.T) {
	t.Parallel()
	plans := models.DefaultPlans()
	free, pro := new(models.PlanFree), new(models.PlanPro)
	for _, kind := range []models.MailKind{models.MailWelcomePro, models.MailPaymentFailed, models.MailProEnded, models.MailQuotaUsed} {
		for _, status := range []models.AccountStatus{models.AccountActive, models.AccountSuspended} {
			for _, granted := range []*models.Plan{nil, free, pro} {
				for _, billed := range []*models.Plan{nil, pro} {
					t.Run(fmt.Sprint(kind, status, granted != nil, granted == pro, billed != nil), func(t *testing.T) {
						t.Parallel()
						c := tomorrow(12 * time.Hour)
						st := storetest.OpenURL(t, storetest.URL(t), store.Options{Now: c.now, Skew: c.skew})
						account := storetest.Account(t, st, "ada@example.com").ID
						if _, err := st.GrantPlan(t.Context(), account, granted); err != nil {
							t.Fatal(err)
						}
						change := store.BillingChange{Plan: billed, Actor: "stripe", Billing: models.BillingAccount{
							AccountID: account, CustomerID: new("cus_1"), SubscriptionID: new("sub_1"), Status: new(models.SubscriptionPastDue),
						}}
						if kind != models.MailQuotaUsed {
							change.Mails = []models.Mail{{AccountID: account, Kind: kind, Once: "one"}}
						}
						l, ok, err := st.TryLease(t.Context(), "billing", time.Minute)
						if err != nil || !ok {
							t.Fatal(ok, err)
						}
						changed, err := st.StoreBilling(t.Context(), l, change)
						if err != nil {
							t.Fatal(err)
						}
						if kind == models.MailQuotaUsed {
							warned(t, st, c, account, 80, int64(changed.Account.DailyLimit(plans)))
						}
						if _, err := st.SetAccountStatus(t.Context(), account, status); err != nil {
							t.Fatal(err)
						}
						box := &mail.Mailbox{}
						outbox := newOutbox(st, box)
						outbox.Sold = true
						if err := outbox.Send(t.Context()); err != nil {
							t.Fatal(err)
						}
						for _, m := range box.All() {
							a := changed.Account
							a.Status = status
							judge(t, &a, plans, m.Subject+"\n"+m.Text())
						}
					})
				}
			}
		}
	}
}

// judge reports what a mail says of an account that is not so.
func judge(t *testing.T, a *models.Account, plans models.Plans, text string) {
	t.Helper()
	plan, _ := a.Plan()
	active := a.Status == models.AccountActive
	for words, so := range map[string]bool{
		"You are on Pro": plan == models.PlanPro && active, "You keep Pro": plan == models.PlanPro && active, "your Pro plan has started": plan == models.PlanPro && active,
		"now on Free": plan == models.PlanFree, "Pro has ended": plan == models.PlanFree, "moves to Free": plan == models.PlanPro && a.GrantedPlan == nil,
		"keys still work": active, "suspended": !active, "set it to Free": plan == models.PlanFree && a.GrantedPlan != nil, "set it to Pro": plan == models.PlanPro && a.GrantedPlan != nil,
	} {
		if strings.Contains(text, words) && !so {
			t.Errorf("it says %q:\n%s", words, text)
		}
	}
	if !active && !strings.Contains(text, "suspended") {
		t.Errorf("it does not say that the account is suspended:\n%s", text)
	}
	for _, said := range perDay.FindAllStringSubmatch(text, -1) {
		n, err := strconv.Atoi(strings.ReplaceAll(said[2], ",", ""))
		if err != nil {
			t.Fatal(err)
		}
		if later := said[1] == "Free, with " && strings.Contains(text, "moves to Free, with"); !later && (n != a.DailyLimit(plans) || !active) {
			t.Errorf("it says %q:\n%s", said[0], text)
		}
	}
	if strings.Contains(text, "%!") || strings.Contains(text, "nil") {
		t.Errorf("it is not finished:\n%s", text)
	}
}
