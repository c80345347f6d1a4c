package admin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"time"

	"lottery/api/quota"
	"lottery/configs"
	"lottery/jobs"
	"lottery/jobs/feed"
	"lottery/models/secret"
	"lottery/models/store"
	"lottery/web/mail"
)

func (p *patient) redis(ctx context.Context) finding {
	const rights = "that its user may " + quota.RedisCommands + " on " + quota.RedisPrefix + "*"
	const remedy = "make sure that Redis is running, that this machine can reach it, and that redis_url has the right password, and starts with rediss:// if Redis requires TLS"
	if p.cfg.RedisURL == "" {
		return p.unset("counters are in the database")
	}
	r, err := quota.OpenRedis(p.cfg.RedisURL, nil)
	if err != nil {
		return failing(err.Error(), remedy)
	}
	defer r.Close() //nolint:errcheck // nothing was written
	health, err := r.Health(ctx)
	switch {
	case err != nil && hungUp(err):
		return failing("it closes the connection at once: "+err.Error(), "if Redis has no password, it refuses other machines (protected mode): set requirepass there, and redis_url to redis://:PASSWORD@HOST:6379/0; if it requires TLS, redis_url must start with rediss://")
	case err != nil && strings.HasPrefix(err.Error(), "NOPERM "):
		return failing(err.Error(), "make sure "+rights)
	case err != nil:
		return failing(err.Error(), remedy)
	}
	p.compare("Redis", health.Ahead)
	found := health.Version
	if health.Writable != nil {
		return failing(found+" cannot store counters: "+health.Writable.Error(), "make sure that redis_url names the primary, that it has memory and disk space, and "+rights)
	}
	if health.Away > farAway {
		found += fmt.Sprintf(", %d ms away", health.Away.Milliseconds())
	}
	if len(health.Risks) > 0 {
		return doubtful(found+": "+strings.Join(health.Risks, "; "), "configure Redis as in docs/operations.md, Redis")
	}
	if health.Away > farAway {
		return doubtful(found, "run the servers nearer to Redis: every request that it counts waits for it (docs/operations.md, How far nodes may be from their stores)")
	}
	return fine(found)
}

// hungUp reports whether Redis closed the connection instead of answering. In protected mode it says why before it does,
// but that arrives only if nothing has been sent to it since.
func hungUp(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNRESET) || strings.HasPrefix(err.Error(), "DENIED ")
}

// stripe sums up `billing doctor` in one line.
func (p *patient) stripe(ctx context.Context) finding {
	switch {
	case !p.cfg.Stripe.On():
		return p.unset("nothing is sold")
	case p.opened() == nil || p.cfg.PublicURL == nil:
		return off("not checked: it needs the database and public_url")
	}
	c := *p.call
	c.store = p.opened()
	var wrong, good []string
	var remedy string
	for _, check := range c.service().Doctor(ctx) {
		if check.OK {
			good = append(good, check.Name)
			continue
		}
		wrong = append(wrong, check.Name+": "+check.Found)
		if remedy == "" {
			remedy = check.Remedy
		}
	}
	if len(wrong) > 0 {
		return failing(strings.Join(wrong, "; "), remedy+"; `lotteryadmin billing doctor` has the details")
	}
	return fine(strings.Join(good, ", "))
}

// smtp connects to the mail server, signs in and names the sender; it sends no mail.
func (p *patient) smtp(ctx context.Context) finding {
	if p.cfg.Web.SMTPURL == "" {
		return p.unset("no email is sent, and nobody can sign up")
	}
	const remedy = "make sure that the mail server is running, that this machine can connect to it, that smtp_url has the right port, user and password, and that the server takes mail from mail_from"
	u, err := url.Parse(p.cfg.Web.SMTPURL)
	if err != nil {
		return failing("smtp_url cannot be read", remedy)
	}
	sender, err := mail.NewSMTP(p.cfg.Web.SMTPURL, p.cfg.Web.MailFrom)
	if err != nil {
		return failing(err.Error(), remedy)
	}
	if err := sender.Check(ctx); err != nil {
		return failing(u.Host+": "+withoutPassword(err.Error(), u), remedy)
	}
	if u.User == nil {
		return fine("connected to " + u.Host + ", without a password")
	}
	return fine("signed in to " + u.Host)
}

func withoutPassword(text string, u *url.URL) string {
	password, _ := u.User.Password()
	return strings.Join(strings.Fields(secret.Without(text, password)), " ")
}

// publishers connects to the feeds' hosts and checks how their last fetches went.
func (p *patient) publishers(ctx context.Context) finding {
	if p.cfg.Feeds.Sync == "" {
		return p.unset("feeds_sync is off: draws come from `draws import` and `draws sync`")
	}
	var wrong, late []string
	hosts := jobs.FeedHosts(&p.cfg.Feeds)
	for _, name := range slices.Sorted(maps.Keys(hosts)) {
		hostTime, cancel := context.WithTimeout(ctx, checkTime/time.Duration(len(hosts)+1))
		if err := feed.Reach(hostTime, hosts[name], p.cfg.Feeds.AllowPrivate); err != nil {
			wrong = append(wrong, name+": "+err.Error())
		}
		cancel()
	}
	if st := p.opened(); st != nil {
		var err error
		if late, err = lateFeeds(ctx, st, &p.cfg.Feeds, p.env.Now()); err != nil {
			wrong = append(wrong, err.Error())
		}
	}
	switch {
	case len(wrong) > 0:
		return failing(strings.Join(append(wrong, late...), "; "), "make sure that this machine can reach these hosts, or set feeds_… to URLs that it can reach")
	case len(late) > 0:
		return doubtful(strings.Join(late, "; "), "`lotteryadmin feeds status` shows more; `lotteryadmin draws sync` fetches now")
	default:
		return fine(fmt.Sprintf("%d feeds can be reached, and their draws are up to date", len(hosts)))
	}
}

// lateFeeds names the feeds whose last fetch failed, or whose draws are older than they should be.
func lateFeeds(ctx context.Context, st *store.Store, cfg *configs.Feeds, now time.Time) ([]string, error) {
	fresh, err := jobs.GameFreshness(ctx, st, now)
	if err != nil {
		return nil, err
	}
	sources, err := jobs.FeedSources(ctx, st, cfg)
	if err != nil {
		return nil, err
	}
	var late []string
	for _, name := range jobs.SyncedFeeds() {
		s := feedStatusOf(name, fresh, sources)
		switch {
		case s.LastError != nil:
			late = append(late, name+" failed: "+*s.LastError)
		case s.LastSuccess == nil:
			late = append(late, name+" has never been fetched")
		case !s.Fresh:
			late = append(late, fmt.Sprintf("%s is behind (%s), last fetched %s", name, *s.Behind, *s.LastSuccess))
		}
	}
	return late, nil
}
