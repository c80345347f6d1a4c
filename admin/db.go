package admin

import (
	"context"
	"errors"
	"strings"

	"github.com/urfave/cli/v2"

	"lottery/models"
	"lottery/models/store"
)

func (t *tool) db() *cli.Command {
	return &cli.Command{Name: "db", Usage: "the database", Subcommands: []*cli.Command{
		{
			Name: "migrate", Usage: "bring the database up to date",
			Description: "Creates the database if there is none. The other commands and the server do the same automatically,\n" +
				"unless run with --no-migrate. Servers of the previous release keep working meanwhile.\n\n" +
				"Example:\n  lotteryadmin db migrate --database-url postgres://lottery@db.example.com/lottery",
			Action: t.configured(dbMigrate),
		},
		{
			Name: "status", Usage: "show the state of the database, changing nothing",
			Description: "Exit code 5 if a newer release has upgraded it and this program must refuse it.\n\nExample:\n  lotteryadmin db status",
			Action:      t.configured(dbStatus),
		},
		{
			Name: "backup", Usage: "write the database to a new file", ArgsUsage: "FILE",
			Description: "The backup is consistent, and servers keep working meanwhile. FILE is a SQLite database, or for\n" +
				"PostgreSQL an archive that pg_restore reads. It contains personal data, so only you can read it.\n" +
				"The schema is left as it is, so that you can back up before an upgrade.\n\n" +
				"Example:\n  lotteryadmin db backup /var/lib/lottery/backups/lottery-$(date +%F)",
			Action: t.configured(dbBackup),
		},
		{
			Name: "copy", Usage: "fill a new database with everything from another one",
			Flags: []cli.Flag{&cli.StringFlag{Name: "from", Required: true, Usage: "the database to copy: its `URL`, sqlite:PATH or postgres://USER:PASSWORD@HOST/NAME"}},
			Description: "The configured database (--database-url, or database_url) is filled, and must be new; the other is only\n" +
				"read. Either everything is copied or nothing. Stop the servers of both first: changes made meanwhile\n" +
				"are not copied. Exit code 5 if the database is not empty.\n\n" +
				"Example:\n  lotteryadmin db copy --from sqlite:data/lottery.db --database-url postgres://lottery@db.example.com/lottery",
			Action: t.configured(dbCopy),
		},
	}}
}

// database is what `db status` prints; fields that need a schema are null if there is none.
type database struct {
	Dialect       string   `json:"dialect"`
	SchemaCurrent int64    `json:"schema_current"`
	SchemaNewest  int64    `json:"schema_newest"`
	Pending       []string `json:"pending"`
	DataVersion   *string  `json:"data_version"`
	Draws         *int64   `json:"draws"`
	Accounts      *int64   `json:"accounts"`
	Demo          bool     `json:"demo"`
}

func databaseOf(o *store.Overview) database {
	d := database{
		Dialect: o.Dialect, SchemaCurrent: o.Current, SchemaNewest: o.Newest, Pending: append([]string{}, o.Pending...),
		Draws: o.Draws, Accounts: o.Accounts, Demo: o.Demo,
	}
	if o.DataVersion != nil {
		d.DataVersion = new(o.DataVersion.String())
	}
	return d
}

// firstToLast names migrations that follow each other.
func firstToLast(migrations []string) string {
	if len(migrations) < 2 {
		return strings.Join(migrations, "")
	}
	return migrations[0] + " … " + migrations[len(migrations)-1]
}

func dbMigrate(ctx context.Context, c *call) (err error) {
	o, err := c.operator()
	if err != nil {
		return err
	}
	there := store.Exists(c.cfg.DatabaseURL)
	st, err := store.Open(ctx, c.cfg.DatabaseURL, store.Options{Now: c.env.Now, Waiting: c.sayWaiting})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	if !there {
		c.sayNew()
	}
	applied, err := st.Migrate(ctx)
	c.store, c.object = st, firstToLast(applied)
	if len(applied) > 0 {
		c.say("Applied %s.", c.object)
	}
	switch {
	case err != nil:
		if result := failure(ctx, err); result != "" {
			_ = c.note(ctx, o, result) // the schema may have no audit log yet
		}
		return err
	case len(applied) == 0:
		c.say("The database was up to date.")
	default:
		if err := c.note(ctx, o, ""); err != nil {
			return err
		}
	}
	after, err := st.Overview(ctx)
	if err != nil {
		return err
	}
	return c.result(databaseOf(&after))
}

func dbStatus(ctx context.Context, c *call) (err error) {
	if !store.Exists(c.cfg.DatabaseURL) {
		return noDatabase(c.cfg.DatabaseURL)
	}
	st, err := store.OpenToLook(ctx, c.cfg.DatabaseURL, store.Options{Now: c.env.Now})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	o, err := st.Overview(ctx)
	if err != nil {
		return err
	}
	if err := c.result(databaseOf(&o)); err != nil || len(o.Pending) > 0 {
		return err
	}
	return st.NotTooNew(ctx, o.Newest)
}

func noDatabase(url string) error {
	return models.Errorf(models.CodeNotFound, "there is no database at %s yet; `lotteryadmin db migrate` creates it", url)
}

// backup is what `db backup` prints.
type backup struct {
	File    string `json:"file"`
	Bytes   int64  `json:"bytes"`
	Dialect string `json:"dialect"`
}

func dbBackup(ctx context.Context, c *call) error {
	if !store.Exists(c.cfg.DatabaseURL) {
		return noDatabase(c.cfg.DatabaseURL)
	}
	file := c.arg(0)
	if file == "-" {
		return models.Errorf(models.CodeInvalid, "give a file name: a database cannot be written to stdout")
	}
	bytes, err := store.Backup(ctx, c.cfg.DatabaseURL, file)
	if err != nil {
		return err
	}
	return c.result(backup{file, bytes, store.DialectOf(c.cfg.DatabaseURL)})
}
