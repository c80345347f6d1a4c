package web

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"time"

	"lottery/models"
	"lottery/models/store"
	"lottery/web/mail"
)

const (
	// outboxEvery is the interval between two passes over the outbox.
	outboxEvery = 5 * time.Second
	// outboxPortion is the most mails that one pass sends.
	outboxPortion = 20
	// mailClaim is how long a node may take to send a mail before another node may try.
	mailClaim = time.Minute
	// mailAttempts is the number of attempts after which a mail is given up. The wait begins at firstWait and doubles
	// after each attempt, which makes about 8½ hours in all.
	mailAttempts = 10
	firstWait    = time.Minute
)

// Outbox sends the mails that are queued in the database, each in the same transaction as the event it reports. A mail
// is sent once, unless a node dies between sending it and recording that, or the mail server takes it without saying so.
type Outbox struct {
	Store     *store.Store
	Mail      mail.Sender
	Plans     models.Plans
	PublicURL string
	Support   string
	Log       *slog.Logger
}

// Run sends due mails until ctx ends.
func (o *Outbox) Run(ctx context.Context) {
	tick := time.NewTicker(outboxEvery)
	defer tick.Stop()
	var outage store.Outage
	for {
		if err := o.Send(ctx); ctx.Err() == nil {
			outage.Note(o.Log, err, "the outbox cannot be worked on now", "the outbox can be worked on again")
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// Send makes one pass over the outbox. It claims each mail just before sending it: with a slow mail server, a claim on
// many would run out while the first ones are being sent.
func (o *Outbox) Send(ctx context.Context) error {
	for range outboxPortion {
		asked, cancel := o.Store.Bounded(ctx)
		due, err := o.Store.ClaimMails(asked, 1, mailClaim)
		cancel()
		if err != nil || len(due) == 0 {
			return err
		}
		if err := o.send(ctx, &due[0]); err != nil {
			return err
		}
	}
	return nil
}

// errUnknownMail makes a mail wait: a node that runs a newer release may know its kind.
var errUnknownMail = errors.New("this release does not know that kind of mail")

func (o *Outbox) send(ctx context.Context, m *store.DueMail) error {
	if m.Email == "" { // the account is closed
		return o.failed(ctx, m, "the account has no address any more", 0)
	}
	asked, cancel := o.Store.Bounded(ctx)
	b, err := o.Store.BillingAccount(asked, m.AccountID)
	why := overtaken(m, &b)
	if err == nil && why == "" && m.Kind == models.MailKeyExpires {
		why, err = o.Store.ExpiryOvertaken(asked, &m.Mail)
	}
	cancel()
	if err != nil { // the mail is due again when the claim has run out
		return err
	}
	if why != "" {
		o.Log.InfoContext(ctx, "a mail is not sent: it would not be true any more", "mail", m.ID, "kind", m.Kind, "reason", why)
		return o.drop(ctx, m)
	}
	message, ok := o.letter(m, &b)
	message.Once = m.Once
	if err = errUnknownMail; ok {
		err = o.Mail.Send(ctx, message)
	}
	if err != nil {
		wait := firstWait << min(m.Attempts-1, 8)
		if m.Attempts >= mailAttempts {
			wait = 0
		}
		o.Log.WarnContext(ctx, "a mail cannot be sent now", "mail", m.ID, "kind", m.Kind, "attempt", m.Attempts, "error", err)
		if wait == 0 && m.Kind == models.MailEmailChanged { // many addresses are changed because the old one is dead
			return o.drop(ctx, m)
		}
		return o.failed(ctx, m, err.Error(), wait)
	}
	if m.Kind == models.MailEmailChanged {
		return o.drop(ctx, m)
	}
	after, cancel := o.Store.Lasting(ctx)
	defer cancel()
	return o.Store.MailSent(after, m.ID)
}

// drop deletes a mail, so that nothing of it is kept.
func (o *Outbox) drop(ctx context.Context, m *store.DueMail) error {
	after, cancel := o.Store.Lasting(ctx)
	defer cancel()
	return o.Store.DropMail(after, m.ID)
}

// overtaken returns why a mail is no longer true, or "" if it still is. While it waited for the mail server, the
// account may have changed, and another mail may have reported that already.
func overtaken(m *store.DueMail, b *models.BillingAccount) string {
	paid := m.Account.BilledPlan != nil
	switch {
	case m.Kind == models.MailProEnded && paid:
		return "Pro has begun again since"
	case (m.Kind == models.MailWelcomePro || m.Kind == models.MailPaymentFailed) && !paid:
		return "Pro has ended since"
	case m.Kind == models.MailPaymentFailed && (b.Status == nil || *b.Status != models.SubscriptionPastDue):
		return "the payment has arrived since"
	case m.Kind == models.MailKeyExpires && m.Account.Status != models.AccountActive:
		return "the account is " + string(m.Account.Status) // once it is active again, a new mail is queued
	default:
		return ""
	}
}

func (o *Outbox) failed(ctx context.Context, m *store.DueMail, reason string, wait time.Duration) error {
	asked, cancel := o.Store.Bounded(ctx)
	defer cancel()
	return o.Store.MailFailed(asked, m.ID, reason, wait)
}

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

// toBefore makes the mail to an account's previous address. The outbox deletes it once it is sent or given up, because
// that address no longer belongs to the account.
func (o *Outbox) toBefore(m *store.DueMail, out mail.Message) (mail.Message, bool) {
	var c models.EmailChanged
	if err := json.Unmarshal([]byte(m.Data), &c); err != nil || c.Before == "" {
		return out, false
	}
	return emailChanged(c, o.Support), true
}

// letter writes the mail m to an account whose billing is b. It returns false if this release does not know the kind of
// mail, or cannot read its data.
func (o *Outbox) letter(m *store.DueMail, b *models.BillingAccount) (mail.Message, bool) {
	out := mail.Message{To: m.Email, ReplyTo: o.Support, Link: o.PublicURL + "/dashboard/plan", Action: "Your plan"}
	_, source := m.Account.Plan()
	switch {
	case m.Kind == models.MailKeyExpires:
		return o.keyExpires(m, out)
	case m.Kind == models.MailEmailChanged:
		return o.toBefore(m, out)
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
		out.Subject = "Your payment failed"
		out.Lines = []string{"Hello,", "The payment for your Lottery Draws API Pro plan did not go through. You keep Pro " + proFor(b) +
			", and we will try the payment again. Please check your card before then."}
		out.After = []string{"If it stays unpaid, your account moves to Free, with " + free + " requests a day. Nothing is lost."}
	case models.MailProEnded:
		out.Subject = "Pro has ended"
		out.Lines = []string{"Hello,", "Your Pro plan for the Lottery Draws API has ended, and your account is now on Free, with " + free + " requests a day. Your keys still work."}
		out.After = []string{afterPro(b)}
	default:
		return out, false
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

// afterPro says how to get Pro back after it has ended. While the subscription continues, an upgrade is not the way.
func afterPro(b *models.BillingAccount) string {
	unpaid := b.Status != nil && (*b.Status == models.SubscriptionPastDue || *b.Status == models.SubscriptionUnpaid)
	switch {
	case !b.GoesOn():
		return "You can upgrade again at any time."
	case !unpaid:
		return "Your subscription is still open, but it does not give you Pro as it is. Use the link above to see what you can do."
	case b.CancelAtPeriodEnd && b.PeriodEnd != nil:
		return "Your subscription is canceled and ends on " + b.PeriodEnd.UTC().Format("January 2, 2006") + ", and its payment is due: " +
			"until then, paying it brings Pro back. Use the link above to manage your card, see your invoices or undo the cancellation."
	default:
		return "Your subscription is still open, and its payment is due: paying it brings Pro back. " +
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
	stays := "This does not change your plan: the operator has set it to " + planName(plan) + ", with " + o.limit(m, plan) + " requests a day."
	out.After = []string{"Use the link above to manage your card, see your invoices or cancel. If you want another plan, contact support" + supportHint(o.Support) + "."}
	switch m.Kind {
	case models.MailWelcomePro:
		out.Subject = "Your subscription has started"
		out.Lines = []string{"Hello,", "Your subscription to the Lottery Draws API has started. " + stays}
	case models.MailPaymentFailed:
		out.Subject = "Your payment failed"
		out.Lines = []string{"Hello,", "The payment for your subscription to the Lottery Draws API did not go through, and we will try it again. " + stays}
	case models.MailProEnded:
		out.Subject = "Your subscription has ended"
		out.Lines = []string{"Hello,", "Your subscription to the Lottery Draws API has ended, or went unpaid for too long. " + stays}
	default:
		return out, false
	}
	return out, true
}

// toSuspended writes a mail about payments to a suspended account, which cannot use its plan.
func (o *Outbox) toSuspended(m *store.DueMail, out mail.Message) (mail.Message, bool) {
	suspended := "Your account is suspended: its keys get a 403 until the suspension is lifted. Contact support" + supportHint(o.Support) + "."
	out.After = []string{"Use the link above to manage your card, see your invoices or cancel."}
	switch m.Kind {
	case models.MailWelcomePro:
		out.Subject = "Your subscription has started"
		out.Lines = []string{"Hello,", "Your subscription to the Lottery Draws API has started.", suspended}
	case models.MailPaymentFailed:
		out.Subject = "Your payment failed"
		out.Lines = []string{"Hello,", "The payment for your Lottery Draws API Pro plan did not go through, and we will try it again.", suspended}
	case models.MailProEnded:
		out.Subject = "Pro has ended"
		out.Lines = []string{"Hello,", "Your Pro plan for the Lottery Draws API has ended, and your account is now on Free.", suspended}
	default:
		return out, false
	}
	return out, true
}
