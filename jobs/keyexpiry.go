package jobs

import (
	"context"
	"time"

	"lottery/models"
)

// keyNotice is how long before an API key expires its account is notified.
const keyNotice = 7 * 24 * time.Hour

// keyExpiryJob queues a mail before an API key expires; the outbox sends it.
func keyExpiryJob(d *Deps) Job {
	j := Job{
		Name: "key-expiry", What: "mail before API keys expire", When: "41 * * * *", Limit: 10 * time.Minute,
		Run: func(ctx context.Context) (string, error) {
			n, err := d.Store.MailExpiringKeys(ctx, keyNotice)
			return models.Count(n, "mail") + " written", err
		},
	}
	if !d.Mail {
		j.When, j.Off = "", "smtp_url is not set here"
	}
	return j
}
