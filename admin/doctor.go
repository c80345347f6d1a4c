package admin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/urfave/cli/v2"

	"lottery/configs"
	"lottery/models"
	"lottery/models/store"
)

func (t *tool) doctor() *cli.Command {
	return &cli.Command{
		Name: "doctor", Usage: "check everything the service needs, and say how to fix what is wrong",
		Description: "It leaves everything as it was, and sends nothing. Run it as the same user as the server, with the same configuration.\n" +
			"Exit code 1 if a check failed; warnings are not failures.\n\n" +
			"Example:\n  lotteryadmin doctor --config /etc/lottery/lottery.yaml",
		Action: t.examine,
	}
}

// status is the outcome of a check.
type status string

const (
	statusOK      status = "ok"
	statusWarning status = "warning"
	statusFailed  status = "failed"
	statusOff     status = "off" // not configured, or a prerequisite failed
)

// finding is one line of the doctor's result.
type finding struct {
	Check  string  `json:"check"`
	Status status  `json:"status"`
	Found  string  `json:"found"`
	Remedy *string `json:"remedy"`
}

const (
	// checkTime bounds one check.
	checkTime = 15 * time.Second
	// farAway is the longest way to PostgreSQL or Redis and back with which everything is quick.
	farAway = 50 * time.Millisecond
)

// patient is what the checks examine.
type patient struct {
	*call
	source configs.Source
	wrong  bool // the configuration has faults: an empty option may be one that could not be read

	mu     sync.Mutex               // a check that timed out may still finish
	open   *store.Store             // nil = the database does not answer
	clocks map[string]time.Duration // how far this machine's clock is ahead of others
}

// opened returns the database if it answers.
func (p *patient) opened() *store.Store {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.open
}

// compare records how far another clock is ahead of this machine's.
func (p *patient) compare(whose string, ahead time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clocks[whose] = time.Until(p.env.Now()) - ahead
}

// examine runs every check, whatever the others find.
func (t *tool) examine(cc *cli.Context) error {
	p := &patient{call: &call{Context: cc, tool: t}, clocks: map[string]time.Duration{}, source: t.source(cc)}
	defer func() {
		if st := p.opened(); st != nil {
			_ = st.Close() // nothing was written
		}
	}()
	checks := []struct {
		name string
		run  func(context.Context) finding
	}{
		{"configuration", p.configuration}, {"database", p.database}, {"migrations", p.migrations}, {"redis", p.redis}, {"stripe", p.stripe}, {"smtp", p.smtp},
		{"feeds", p.publishers}, {"clock", p.clock}, {"disk", p.disk}, {"temp", p.temp}, {"permissions", p.permissions},
	}
	list, failed := make([]finding, 0, len(checks)), 0
	for _, check := range checks {
		f := bounded(cc.Context, check.run)
		if cc.Err() != nil {
			return cc.Err()
		}
		f.Check, f.Found = check.name, strings.TrimSpace(explain(cc.Context, models.Errorf(models.CodeInvalid, "%s", f.Found)))
		if f.Status == statusFailed {
			failed++
		}
		list = append(list, f)
	}
	if err := t.findings(list); err != nil {
		return err
	}
	if failed > 0 {
		return models.Errorf(models.CodeUnavailable, "%d of %d checks failed", failed, len(list))
	}
	return nil
}

// findings prints the findings. In a table, a finding of several lines (a configuration with several problems) goes
// below the table: in one cell it would make every row as wide as all its lines together.
func (t *tool) findings(list []finding) error {
	if t.form != formTable {
		return t.result(list)
	}
	var below strings.Builder
	short := slices.Clone(list)
	for i := range short {
		first, rest, _ := strings.Cut(short[i].Found, "\n")
		if !strings.Contains(rest, "\n") { // a single problem fits in the table
			continue
		}
		short[i].Found = strings.TrimSuffix(first, ":") + "; see below"
		fmt.Fprintf(&below, "\n%s\n", head(short[i].Check))
		for line := range strings.Lines(rest) {
			fmt.Fprintln(&below, strings.TrimSpace(line))
		}
	}
	if err := t.result(short); err != nil {
		return err
	}
	_, err := io.WriteString(t.env.Stdout, below.String())
	return err
}

// bounded runs a check with a timeout; it abandons a check that ignores its context.
func bounded(ctx context.Context, run func(context.Context) finding) finding {
	ctx, cancel := context.WithTimeout(ctx, checkTime)
	defer cancel()
	done := make(chan finding, 1)
	go func() { done <- run(ctx) }()
	select {
	case f := <-done:
		return f
	case <-time.After(checkTime + time.Second):
		return failing("there was no response for "+checkTime.String(), "make sure that what it checks can be reached from this machine")
	}
}

func fine(found string) finding { return finding{Status: statusOK, Found: found} }
func off(found string) finding  { return finding{Status: statusOff, Found: found} }
func failing(found, remedy string) finding {
	return finding{Status: statusFailed, Found: found, Remedy: &remedy}
}
func doubtful(found, remedy string) finding {
	return finding{Status: statusWarning, Found: found, Remedy: &remedy}
}

func (p *patient) configuration(context.Context) finding {
	var err error
	p.cfg, err = configs.Load(p.source)
	p.wrong = err != nil
	if err != nil {
		return failing(err.Error(), "fix these; configs/lottery.example.yaml explains every option")
	}
	found := "from the environment and the defaults"
	if p.source.File != "" {
		found = "from " + p.source.File + ", the environment and the defaults"
	}
	if p.cfg.LeadsAstray() {
		return doubtful(found+"; public_url is "+p.cfg.PublicURL.String()+", so links in emails and from Stripe do not work on other machines",
			"set public_url to the address that people type")
	}
	if strays := configs.Strays(p.env.Environ); len(strays) > 0 {
		return doubtful(found+"; "+strings.Join(strays, "; "), "use the names in lotteryapi serve --help, or remove them from the environment")
	}
	return fine(found)
}

// unset returns the finding for a part whose option is empty.
func (p *patient) unset(found string) finding {
	if p.wrong {
		return off("not checked: the configuration must be fixed first")
	}
	return off(found)
}

// broken returns the finding for a database that cannot be used.
func (p *patient) broken(err error) finding {
	if models.ErrorCode(err) == models.CodeConflict { // it belongs to another program
		return failing(err.Error(), "set database_url to a database of its own")
	}
	if errors.Is(err, store.ErrDiskFull) {
		return failing(err.Error(), "remove what is not needed from the disk that holds the database, or make it larger; nothing in the database is lost")
	}
	if store.DialectOf(p.cfg.DatabaseURL) == store.SQLite {
		return failing(err.Error(), "make sure that database_url names a SQLite database file, and that the server's user can read and write it and its folder; if it is damaged, replace it with a backup, without the old file's -wal and -shm")
	}
	return failing(err.Error(), "make sure that the database is running, that it exists (`createdb`), that this machine can reach it, that it has connections left (max_connections), and that database_url has the right user and password")
}

func (p *patient) database(ctx context.Context) finding {
	switch {
	case p.cfg.DatabaseURL == "":
		return off("not checked: the configuration does not say which")
	case !store.Exists(p.cfg.DatabaseURL):
		return failing("there is no database at "+p.cfg.DatabaseURL, "create it with `lotteryadmin db migrate`, or set database_url to where it is")
	}
	st, err := store.Open(ctx, p.cfg.DatabaseURL, store.Options{Now: p.env.Now})
	if err != nil {
		return p.broken(err)
	}
	health, err := st.Health(ctx)
	if err != nil {
		_ = st.Close() // it cannot be used
		return p.broken(err)
	}
	if st.Dialect() == store.Postgres {
		p.compare("PostgreSQL", health.Ahead)
	}
	p.mu.Lock()
	p.open = st
	p.mu.Unlock()
	found := st.Dialect() + " " + health.Version
	if health.Damage != "" {
		return failing(found+": the file is damaged: "+health.Damage, "stop the servers and replace it with a backup, without the old file's -wal and -shm; see docs/operations.md, Restore SQLite")
	}
	if health.Writable != nil {
		remedy := "make the user in database_url the owner of the database and its tables, and make sure that the server is the primary and its disk is not full"
		switch {
		case store.Locked(health.Writable):
			return doubtful(found+": another program, such as an import, is writing to it", "run this again in a moment")
		case st.Dialect() == store.SQLite:
			remedy = "give the server's user write access to the file and its folder, and make sure that the disk is not full"
		}
		return failing(found+" cannot be written: "+health.Writable.Error(), remedy)
	}
	found += ", writable"
	if health.Away > farAway {
		found += fmt.Sprintf(", %d ms away", health.Away.Milliseconds())
	}
	var remedies []string
	if health.Outdated {
		found += "; it does not tell nodes when it becomes a standby"
		remedies = append(remedies, fmt.Sprintf("upgrade PostgreSQL to %d or newer", store.OldestPostgres))
	}
	if len(health.Risks) > 0 {
		found += ": the latest changes (payments, counted requests, draws) may be lost if it or its machine crashes (" + strings.Join(health.Risks, ", ") + ")"
		remedies = append(remedies, "turn these on in PostgreSQL's configuration, or for the database and its user")
	}
	if st.Dialect() == store.Postgres && health.Allowed < store.MaxConnections+store.CommandConnections {
		found += fmt.Sprintf("; it lets its user open %s; a node opens %d, and a command %d",
			models.Count(health.Allowed, "connection"), store.MaxConnections, store.CommandConnections)
		remedies = append(remedies, fmt.Sprintf("raise max_connections, or the CONNECTION LIMIT of the user or the database, to %d for each node and %d for a command",
			store.MaxConnections, store.CommandConnections))
	}
	if health.Unread {
		found += "; its file is too large to be checked for damage here"
	}
	if health.Away > farAway {
		remedies = append(remedies, "run the servers nearer to PostgreSQL: starts, pages and each key's first request wait for it several times (docs/operations.md, How far nodes may be from their stores)")
	}
	if len(remedies) > 0 {
		return doubtful(found, strings.Join(remedies, "; "))
	}
	return fine(found)
}

func (p *patient) migrations(ctx context.Context) finding {
	st := p.opened()
	if st == nil {
		return off("not checked: the database does not respond")
	}
	o, err := st.Overview(ctx)
	switch {
	case err != nil:
		return p.broken(err)
	case len(o.Pending) > 0:
		return failing("not applied: "+firstToLast(o.Pending), "`lotteryadmin db migrate`")
	case o.Demo:
		return failing("the database is the demo's", "set database_url to a database of your own")
	}
	if err := st.NotTooNew(ctx, o.Newest); err != nil {
		return failing(err.Error(), "install the release that upgraded the database")
	}
	if o.Current > o.Newest {
		return fine(fmt.Sprintf("all applied, and later ones from a newer release: schema %d, of which this program knows %d", o.Current, o.Newest))
	}
	return fine("all applied")
}
