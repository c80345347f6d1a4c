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
			Description: "Makes the database if there is none. The other commands and the server do the same by themselves\n" +
				"unless they are given --no-migrate. Servers of the release before go on working meanwhile.\n\n" +
				"Example:\n  lotteryadmin db migrate --database-url postgres://lottery@db.example.com/lottery",
			Action: t.configured(dbMigrate),
		},
		{
			Name: "status", Usage: "tell how the database is, changing nothing",
			Description: "Exit code 5 if a newer release upgraded it so that this program refuses it.\n\nExample:\n  lotteryadmin db status",
			Action:      t.configured(dbStatus),
		},
		{
			Name: "backup", Usage: "write the database to a new file", ArgsUsage: "FILE",
			Description: "The copy is of one moment, and servers go on working meanwhile. FILE is a SQLite database,\n" +
				"or of PostgreSQL an archive that pg_restore reads. It holds personal data: only you may read it.\n" +
				"The schema is left as it is, so that you can back up before an upgrade.\n\n" +
				"Example:\n  lotteryadmin db backup /var/lib/lottery/backups/lottery-$(date +%F)",
			Action: t.configured(dbBackup),
		},
		{
			Name: "copy", Usage: "fill a new database with all that another one holds",
			Flags: []cli.Flag{&cli.StringFlag{Name: "from", Required: true, Usage: "the database that is copied: its `URL`, sqlite:PATH or postgres://USER:PASSWORD@HOST/NAME"}},
			Description: "The configured database (--database-url, or database_url) is filled, and must be a new one; the other\n" +
				"is only read. All is there in the end, or nothing. Stop the servers of both first: what happens\n" +
				"meanwhile is not copied. Exit code 5 if there is something in the database already.\n\n" +
				"Example:\n  lotteryadmin db copy --from sqlite:data/lottery.db --database-url postgres://lottery@db.example.com/lottery",
			Action: t.configured(dbCopy),
		},
	}}
}

// database is what `db status` prints; what needs a schema is null while there is none.
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
		version := o.DataVersion.String()
		d.DataVersion = &version
	}
	return d
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
	if err != nil {
		return err
	}
	if len(applied) == 0 {
		c.say("The database was up to date.")
	} else {
		c.object = strings.Join(applied, ", ")
		c.say("Applied %s.", c.object)
		c.store = st
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
	return models.Errorf(models.CodeNotFound, "there is no database at %s yet; `lotteryadmin db migrate` makes it", url)
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
		return models.Errorf(models.CodeInvalid, "name a file: a database cannot be written to stdout")
	}
	bytes, err := store.Backup(ctx, c.cfg.DatabaseURL, file)
	if err != nil {
		return err
	}
	return c.result(backup{file, bytes, store.DialectOf(c.cfg.DatabaseURL)})
}
