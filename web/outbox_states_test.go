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
var perDay = regexp.MustCompile(`(\S+ \S+ )?([\d,]+) requests (?:a day|for)\b`)

// accountState is a state of an account, and a mail that is queued for it.
type accountState struct {
	kind            models.MailKind
	status          models.AccountStatus
	granted, billed *models.Plan
}

// due reports whether the mail is still true in that state, and so must be sent.
func (s *accountState) due() bool {
	switch s.kind {
	case models.MailQuotaUsed:
		return s.status == models.AccountActive
	case models.MailProEnded, models.MailFirstFailed:
		return s.billed == nil
	default:
		return s.billed != nil
	}
}

// Whatever state an account is in, a mail to it says nothing of its plan, its limit and its keys that is not so.
func TestMailsInAllStates(t *testing.T) {
	t.Parallel()
	free, pro := new(models.PlanFree), new(models.PlanPro)
	var states []accountState
	for _, kind := range []models.MailKind{models.MailWelcomePro, models.MailPaymentFailed, models.MailFirstFailed, models.MailProEnded, models.MailQuotaUsed} {
		for _, status := range []models.AccountStatus{models.AccountActive, models.AccountSuspended} {
			for _, granted := range []*models.Plan{nil, free, pro} {
				states = append(states, accountState{kind, status, granted, nil}, accountState{kind, status, granted, pro})
			}
		}
	}
	for _, s := range states {
		t.Run(fmt.Sprintf("%s to %s, granted %v, billed %v", s.kind, s.status, named(s.granted), named(s.billed)), func(t *testing.T) {
			t.Parallel()
			s.mailed(t)
		})
	}
}

func named(plan *models.Plan) models.Plan {
	if plan == nil {
		return "nothing"
	}
	return *plan
}

// mailed brings an account into the state, and judges the mail that it is sent.
func (s *accountState) mailed(t *testing.T) {
	plans, c, box := models.DefaultPlans(), tomorrow(12*time.Hour), &mail.Mailbox{}
	st := storetest.OpenURL(t, storetest.URL(t), store.Options{Now: c.now, Skew: c.skew})
	id := storetest.Account(t, st, "ada@example.com").ID
	if _, err := st.GrantPlan(t.Context(), id, s.granted); err != nil {
		t.Fatal(err)
	}
	found := subscribed(id, models.SubscriptionPastDue, s.billed)
	if s.kind != models.MailQuotaUsed {
		found.Mails = []models.Mail{{AccountID: id, Kind: s.kind, Once: "one"}}
	}
	stored, err := storeBilling(t, st, found)
	if err != nil {
		t.Fatal(err)
	}
	if s.kind == models.MailQuotaUsed {
		warned(t, st, c, id, 80, int64(stored.Account.DailyLimit(plans)))
	}
	account, err := st.SetAccountStatus(t.Context(), id, s.status)
	if err != nil {
		t.Fatal(err)
	}
	outbox := newOutbox(st, box)
	outbox.Sold = true
	if err := outbox.Send(t.Context()); err != nil {
		t.Fatal(err)
	}
	all := box.All()
	if sent := len(all) == 1; sent != s.due() {
		t.Errorf("%d mails were sent", len(all))
	}
	for _, m := range all {
		judge(t, &account, plans, m.Subject+"\n"+m.Text())
	}
}

// judge reports what a mail says of an account that is not so.
func judge(t *testing.T, a *models.Account, plans models.Plans, text string) {
	t.Helper()
	plan, _ := a.Plan()
	active := a.Status == models.AccountActive
	for words, so := range map[string]bool{
		"You are on Pro": plan == models.PlanPro && active, "You keep Pro": plan == models.PlanPro && active, "your Pro plan has started": plan == models.PlanPro && active,
		"now on Free": plan == models.PlanFree, "Pro has ended": plan == models.PlanFree, "stays on Free": plan == models.PlanFree, "moves to Free": plan == models.PlanPro && a.GrantedPlan == nil,
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
