package web

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"lottery/models"
	"lottery/models/store"
	"lottery/web/mail"
)

const (
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
	Sold      bool // Pro is for sale here
	Log       *slog.Logger
}

// Run sends due mails until ctx ends.
func (o *Outbox) Run(ctx context.Context) {
	tick := time.NewTicker(models.OutboxEvery)
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
	if m.Email == "" { // the account was closed while the mail was written, and none of its mails may stay
		return o.drop(ctx, m)
	}
	asked, cancel := o.Store.Bounded(ctx)
	b, err := o.Store.BillingAccount(asked, m.AccountID)
	why := overtaken(m, &b)
	switch {
	case err != nil || why != "":
	case m.Kind == models.MailKeyExpires:
		why, err = o.Store.ExpiryOvertaken(asked, &m.Mail)
	case m.Kind == models.MailQuotaUsed:
		why, err = o.quotaOvertaken(asked, m)
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
		if ctx.Err() != nil { // this node stops, which says nothing about the mail server; the claim will run out
			return ctx.Err()
		}
		wait := firstWait << (m.Attempts - 1)
		if m.Attempts >= mailAttempts {
			wait = 0
		}
		o.Log.WarnContext(ctx, "a mail cannot be sent now", "mail", m.ID, "kind", m.Kind, "attempt", m.Attempts, "error", err)
		if wait == 0 && !keptWhenGivenUp(m.Kind) {
			return o.drop(ctx, m)
		}
		return o.failed(ctx, m, err.Error(), wait)
	}
	if m.Kind == models.MailEmailChanged { // its address no longer belongs to the account
		return o.drop(ctx, m)
	}
	after, cancel := o.Store.Lasting(ctx)
	defer cancel()
	return o.Store.MailSent(after, m.Once)
}

// keptWhenGivenUp reports whether somebody should look at a mail of that kind that was given up. Many addresses are
// changed because the old one is dead, and a mail about a day's quota is void when the day is over.
func keptWhenGivenUp(kind models.MailKind) bool {
	return kind != models.MailEmailChanged && kind != models.MailQuotaUsed
}

// drop deletes a mail, so that nothing of it is kept.
func (o *Outbox) drop(ctx context.Context, m *store.DueMail) error {
	after, cancel := o.Store.Lasting(ctx)
	defer cancel()
	return o.Store.DropMail(after, m.Once)
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
	case m.Kind == models.MailFirstFailed && paid:
		return "the payment has arrived since"
	case m.Kind == models.MailPaymentFailed && (b.Status == nil || *b.Status != models.SubscriptionPastDue):
		return "the payment has arrived since"
	case (m.Kind == models.MailKeyExpires || m.Kind == models.MailQuotaUsed) && m.Account.Status != models.AccountActive:
		return "the account is " + string(m.Account.Status) // once it is active again, a new mail is queued
	default:
		return ""
	}
}

// quotaOvertaken is overtaken for a mail about a day's quota.
func (o *Outbox) quotaOvertaken(ctx context.Context, m *store.DueMail) (why string, err error) {
	used, ok := quotaUsed(&m.Mail)
	switch {
	case !ok: // letter reports it
		return "", nil
	case int64(m.Account.DailyLimit(o.Plans)) != used.Limit:
		return "the limit has changed since", nil
	default:
		return o.Store.WarningOvertaken(ctx, m.AccountID, used)
	}
}

func (o *Outbox) failed(ctx context.Context, m *store.DueMail, reason string, wait time.Duration) error {
	asked, cancel := o.Store.Bounded(ctx)
	defer cancel()
	return o.Store.MailFailed(asked, m.Once, reason, wait)
}
