package web

import (
	"encoding/json"
	"strconv"

	"lottery/models"
	"lottery/models/store"
	"lottery/web/mail"
)

// letter writes the mail m to an account whose billing is b. It returns false if this release does not know the kind of
// mail, or cannot read its data.
func (o *Outbox) letter(m *store.DueMail, b *models.BillingAccount) (mail.Message, bool) {
	out := mail.Message{To: m.Email, ReplyTo: o.Support, Link: o.PublicURL + "/dashboard/plan", Action: "Your plan"}
	_, source := m.Account.Plan()
	switch {
	case m.Kind == models.MailKeyExpires:
		return o.keyExpires(m, out)
	case m.Kind == models.MailEmailChanged:
		return emailChanged(&m.Mail, o.Support)
	case m.Kind == models.MailQuotaUsed:
		return o.quotaUsed(m, b, out)
	case source == models.SourceOperator:
		return o.besideGrant(m, out)
	case m.Account.Status == models.AccountSuspended:
		return o.toSuspended(m, out)
	}
	free, pro := o.limit(m, models.PlanFree), o.limit(m, models.PlanPro)
	switch m.Kind {
	case models.MailWelcomePro:
		out.Subject = "You are on Pro"
		out.Lines = []string{"Hello,", "Your Pro plan for the Lottery Draws API has started. You now have " + pro + " requests a day and " +
			counted(o.Plans[models.PlanPro].MaxKeys, "API key") + ", and your questions are answered first."}
		out.After = []string{"Use the link above to manage your card, see your invoices or cancel."}
	case models.MailPaymentFailed:
		out.Subject = paymentFailed
		out.Lines = []string{"Hello,", "The payment for your Lottery Draws API Pro plan did not go through. You keep Pro " + proFor(b) +
			", and we will try the payment again. Please check your card before then."}
		out.After = []string{"If it stays unpaid, your account moves to Free, with " + free + " requests a day. Nothing is lost."}
	case models.MailFirstFailed:
		out.Subject = paymentFailed
		out.Lines = []string{"Hello,", "The first payment for your Lottery Draws API Pro plan did not go through, so Pro has not started. Your account stays on Free, with " +
			free + " requests a day, and your keys still work."}
		out.After = []string{withoutPro(b, "starts Pro")}
	case models.MailProEnded:
		out.Subject = "Pro has ended"
		out.Lines = []string{"Hello,", "Your Pro plan for the Lottery Draws API has ended, and your account is now on Free, with " + free + " requests a day. Your keys still work."}
		out.After = []string{withoutPro(b, "brings Pro back")}
	default:
		return out, false
	}
	return out, true
}

const paymentFailed = "Your payment failed"

// keyExpires fills in the mail that warns of an expiring key. It identifies the key by name and prefix; the key itself
// is not known here.
func (o *Outbox) keyExpires(m *store.DueMail, out mail.Message) (mail.Message, bool) {
	var k models.KeyExpires
	if err := json.Unmarshal([]byte(m.Data), &k); err != nil {
		return out, false
	}
	name := k.Prefix + "…"
	if k.Name != "" {
		name = "“" + k.Name + "” (" + name + ")"
	}
	out.Subject = "An API key expires on " + k.ExpiresAt.UTC().Format("January 2, 2006")
	out.Link, out.Action = o.PublicURL+"/dashboard/keys", "Your keys"
	out.Lines = []string{"Hello,", "Your Lottery Draws API key " + name + " expires on " + k.ExpiresAt.UTC().Format("January 2, 2006, 15:04") + " UTC. " +
		"From then on, requests with it will get a 401.",
		"If a program still uses it, create a new key, switch the program to it, and then revoke the old one. Both work until then, so there is no downtime. " +
			"Rotating does not help here: a rotated key keeps its expiration date."}
	plan, _ := m.Account.Plan()
	out.After = []string{
		"The " + planName(plan) + " plan has room for " + counted(o.Plans[plan].MaxKeys, "key") + ". If all of them work, one has to be revoked first.",
		"If nothing uses it anymore, you do not need to do anything.",
	}
	return out, true
}

// proFor says how long Pro continues although its payment failed.
func proFor(b *models.BillingAccount) string {
	until := b.GraceEndsAt
	switch {
	case until == nil:
		return "for now"
	case b.CancelAtPeriodEnd && b.PeriodEnd != nil && b.PeriodEnd.Before(*until):
		until = b.PeriodEnd
	}
	return "until " + moment(*until)
}

// withoutPro says how to get Pro, or get it back. While the subscription continues, an upgrade is not the way. does is
// what paying does.
func withoutPro(b *models.BillingAccount, does string) string {
	unpaid := b.Status != nil && (*b.Status == models.SubscriptionPastDue || *b.Status == models.SubscriptionUnpaid)
	switch {
	case !b.GoesOn():
		return "You can upgrade again at any time."
	case !unpaid:
		return "Your subscription is still open, but it does not give you Pro as it is. Use the link above to see what you can do."
	case b.CancelAtPeriodEnd && b.PeriodEnd != nil:
		return "Your subscription is canceled and ends on " + b.PeriodEnd.UTC().Format("January 2, 2006") + ", and its payment is due: " +
			"until then, paying it " + does + ". Use the link above to manage your card, see your invoices or undo the cancellation."
	default:
		return "Your subscription is still open, and its payment is due: paying it " + does + ". " +
			"Use the link above to manage your card, see your invoices or cancel."
	}
}

// limit returns how many requests a day the mail's account has on a plan.
func (o *Outbox) limit(m *store.DueMail, plan models.Plan) string {
	return thousands(m.Account.LimitOn(o.Plans, plan))
}

// besideGrant writes a mail about payments to an account whose plan the operator has set: payments do not change it.
func (o *Outbox) besideGrant(m *store.DueMail, out mail.Message) (mail.Message, bool) {
	plan, _ := m.Account.Plan()
	stays := "This does not change your plan: the operator has set it to " + planName(plan)
	if m.Account.Status == models.AccountSuspended {
		stays += ". " + o.suspended()
	} else {
		stays += ", with " + o.limit(m, plan) + " requests a day."
	}
	out.After = []string{"Use the link above to manage your card, see your invoices or cancel. If you want another plan, contact support" + supportHint(o.Support) + "."}
	switch m.Kind {
	case models.MailWelcomePro:
		out.Subject = "Your subscription has started"
		out.Lines = []string{"Hello,", "Your subscription to the Lottery Draws API has started. " + stays}
	case models.MailPaymentFailed:
		out.Subject = paymentFailed
		out.Lines = []string{"Hello,", "The payment for your subscription to the Lottery Draws API did not go through, and we will try it again. " + stays}
	case models.MailFirstFailed:
		out.Subject = paymentFailed
		out.Lines = []string{"Hello,", "The first payment for your subscription to the Lottery Draws API did not go through. " + stays}
	case models.MailProEnded:
		out.Subject = "Your subscription has ended"
		out.Lines = []string{"Hello,", "Your subscription to the Lottery Draws API has ended, or went unpaid for too long. " + stays}
	default:
		return out, false
	}
	return out, true
}

// suspended says what it means that an account is.
func (o *Outbox) suspended() string {
	return "Your account is suspended: its keys get a 403 until the suspension is lifted. Contact support" + supportHint(o.Support) + "."
}

// toSuspended writes a mail about payments to a suspended account, which cannot use its plan.
func (o *Outbox) toSuspended(m *store.DueMail, out mail.Message) (mail.Message, bool) {
	suspended := o.suspended()
	out.After = []string{"Use the link above to manage your card, see your invoices or cancel."}
	switch m.Kind {
	case models.MailWelcomePro:
		out.Subject = "Your subscription has started"
		out.Lines = []string{"Hello,", "Your subscription to the Lottery Draws API has started.", suspended}
	case models.MailPaymentFailed:
		out.Subject = paymentFailed
		out.Lines = []string{"Hello,", "The payment for your Lottery Draws API Pro plan did not go through, and we will try it again.", suspended}
	case models.MailFirstFailed:
		out.Subject = paymentFailed
		out.Lines = []string{"Hello,", "The first payment for your Lottery Draws API Pro plan did not go through, so Pro has not started.", suspended}
	case models.MailProEnded:
		out.Subject = "Pro has ended"
		out.Lines = []string{"Hello,", "Your Pro plan for the Lottery Draws API has ended, and your account is now on Free.", suspended}
	default:
		return out, false
	}
	return out, true
}

// emailChanged writes the mail to an account's previous address; false if its data cannot be read.
func emailChanged(m *models.Mail, support string) (mail.Message, bool) {
	var c models.EmailChanged
	err := json.Unmarshal([]byte(m.Data), &c)
	return mail.Message{
		To: c.Before, ReplyTo: support, Subject: "Your address was changed",
		Lines: []string{"Hello,", "The address of your Lottery Draws API account is now " + c.After + "."},
		After: []string{"If this was not you, contact support" + supportHint(support) + " immediately."},
	}, err == nil && c.Before != ""
}

// quotaUsed writes the mail to an account that has used much of a day's requests, or all of them; false if its data
// cannot be read.
func (o *Outbox) quotaUsed(m *store.DueMail, b *models.BillingAccount, out mail.Message) (mail.Message, bool) {
	used, ok := quotaUsed(&m.Mail)
	limit, day := counted(used.Limit, "request"), used.Day.Time()
	part, then := "all "+limit, "Further requests get"
	if used.Percent < 100 {
		part, then = strconv.Itoa(used.Percent)+"% of your "+limit, "Once all of them are used, further requests get"
	}
	out.Subject = "You have used " + part + " for " + day.Format("January 2")
	out.Link, out.Action = o.PublicURL+"/dashboard", "Your usage"
	out.Lines = []string{"Hello,", "You have used " + part + " for " + day.Format("January 2, 2006") + " (UTC), over all keys of your Lottery Draws API account. " +
		then + " a 429 until midnight UTC, when the count starts again."}
	more := "contact support" + supportHint(o.Support)
	_, source := m.Account.Plan()
	if pro := m.Account.LimitOn(o.Plans, models.PlanPro); o.Sold && source == models.SourceDefault && !b.GoesOn() && int64(pro) > used.Limit {
		out.Link, out.Action = o.PublicURL+"/dashboard/plan", "Upgrade to Pro"
		more = "upgrade to Pro, which has " + thousands(pro) + ", effective immediately"
	}
	out.After = []string{
		"If you need more requests a day, " + more + ". How to get by with fewer: " + o.PublicURL + "/docs/limits#use-fewer-requests",
		"You get this email again if your account has not come this far for a week, or if its limit has changed.",
	}
	return out, ok
}

// quotaUsed reads the data of a mail about a day's quota.
func quotaUsed(m *models.Mail) (used models.QuotaUsed, ok bool) {
	err := json.Unmarshal([]byte(m.Data), &used)
	return used, err == nil && used.Limit > 0
}
