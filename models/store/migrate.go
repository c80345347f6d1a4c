package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path"
	"strconv"
	"time"

	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"lottery/configs"
	"lottery/models"
	"lottery/models/store/migrations"
)

// SchemaStatus is the state of a database's schema.
type SchemaStatus struct {
	Dialect string
	Current int64 // number of the newest migration applied; 0 = empty database
	Newest  int64 // number of the newest migration that this program knows
	Pending []string
}

// metaOldestSchema is the name in meta of the oldest schema that a program must know to use the database.
const metaOldestSchema = "oldest_schema"

// lockedEvery is the interval, in seconds, at which a program retries the lock held by another that migrates;
// lockedFor is the most retries.
const (
	lockedEvery = 1
	lockedFor   = 300
)

// lockWait is how long a migration waits for a table that another session uses, such as for a backup. Everybody who
// comes to the table after it waits behind it, so it makes room for lockPause before it tries again.
const (
	lockWait  = time.Second
	lockPause = time.Second
)

// briefly is a SessionLocker in whose session statements wait for other locks for lockWait.
type briefly struct{ lock.SessionLocker }

func (b briefly) SessionLock(ctx context.Context, conn *sql.Conn) error {
	if err := b.SessionLocker.SessionLock(ctx, conn); err != nil {
		return err
	}
	_, err := conn.ExecContext(ctx, fmt.Sprintf("SET lock_timeout = %d", lockWait.Milliseconds()))
	if err != nil {
		return errors.Join(err, b.SessionLocker.SessionUnlock(ctx, conn))
	}
	return nil
}

func (b briefly) SessionUnlock(ctx context.Context, conn *sql.Conn) error {
	_, err := conn.ExecContext(ctx, "RESET lock_timeout")
	return errors.Join(err, b.SessionLocker.SessionUnlock(ctx, conn))
}

// heldUp reports whether a migration was given up after lockWait.
func heldUp(err error) bool { return postgresCode(err) == noLock }

// provider returns the migrations. If migrate is set, only one program at a time migrates on PostgreSQL.
func (s *Store) provider(migrate bool) (*goose.Provider, error) {
	pool, err := s.write.DB()
	if err != nil {
		return nil, fmt.Errorf("migrate: %w", err)
	}
	dialect := goose.DialectSQLite3
	opts := []goose.ProviderOption{goose.WithLogger(goose.NopLogger()), goose.WithTableName("schema_migrations")}
	if s.dialect == Postgres {
		dialect = goose.DialectPostgres
		if migrate { // otherwise programs that start together would wait for each other
			locker, err := lock.NewPostgresSessionLocker(lock.WithLockTimeout(lockedEvery, lockedFor))
			if err != nil {
				return nil, fmt.Errorf("migrate: %w", err)
			}
			opts = append(opts, goose.WithSessionLocker(briefly{locker}))
		}
	}
	p, err := goose.NewProvider(dialect, pool, migrations.For(s.dialect), opts...)
	if err != nil {
		return nil, fmt.Errorf("migrate: %w", err)
	}
	return p, nil
}

// Status returns the state of the schema without changing anything.
func (s *Store) Status(ctx context.Context) (SchemaStatus, error) {
	st := SchemaStatus{Dialect: s.dialect}
	p, err := s.provider(false)
	if err != nil {
		return st, err
	}
	begun, err := hasTable(s.writer(ctx), "schema_migrations")
	if err != nil {
		return st, unavailable(err)
	}
	var rows []struct {
		VersionID int64
		IsApplied bool
	}
	if begun { // goose asks for each migration in turn, and would create its table
		if err := s.writer(ctx).Raw("SELECT version_id, is_applied FROM schema_migrations ORDER BY id").Scan(&rows).Error; err != nil {
			return st, unavailable(err)
		}
	}
	applied := map[int64]bool{}
	for _, row := range rows {
		applied[row.VersionID] = row.IsApplied
		st.Current = max(st.Current, row.VersionID)
	}
	for _, source := range p.ListSources() {
		st.Newest = max(st.Newest, source.Version)
		if !applied[source.Version] {
			st.Pending = append(st.Pending, path.Base(source.Path))
		}
	}
	return st, nil
}

// mayBegin returns an error if PostgreSQL would not let its user create the migrations' table, which goose
// would retry for seconds.
func (s *Store) mayBegin(ctx context.Context) error {
	if s.dialect != Postgres {
		return nil
	}
	tx := s.writer(ctx)
	if there, err := hasTable(tx, "schema_migrations"); err != nil || there {
		return unavailable(err)
	}
	var readOnly bool
	if err := tx.Raw("SELECT current_setting('transaction_read_only')::bool").Scan(&readOnly).Error; err != nil {
		return unavailable(err)
	}
	if readOnly {
		return models.Errorf(models.CodeUnavailable, takesNoChanges)
	}
	var encoding string
	if err := tx.Raw("SELECT current_setting('server_encoding')").Scan(&encoding).Error; err != nil {
		return unavailable(err)
	}
	if encoding != "UTF8" && encoding != "SQL_ASCII" { // SQL_ASCII also takes bytes as they are
		return models.Errorf(models.CodeUnavailable, "the database has the encoding %s, which cannot store all names, and a backup would change them: create it with `createdb --encoding=UTF8 --template=template0`", encoding)
	}
	return mayMakeTables(tx, notOwner)
}

// Prepare brings the schema up to date (or, if migrate is false, refuses one that is not), refuses a schema that is
// newer than this program in an incompatible way, and adds the games that ship with the product.
func (s *Store) Prepare(ctx context.Context, migrate bool) error {
	_, err := s.prepare(ctx, migrate)
	return err
}

// Migrate is Prepare, and returns the migrations that it applied, without those that another program applied meanwhile.
func (s *Store) Migrate(ctx context.Context) (applied []string, err error) {
	return s.prepare(ctx, true)
}

func (s *Store) prepare(ctx context.Context, migrate bool) (applied []string, err error) {
	var st SchemaStatus
	if err := s.AwaitShort(ctx, func(ctx context.Context) (err error) {
		st, err = s.Status(ctx)
		return err
	}); err != nil {
		return nil, err
	}
	if len(st.Pending) > 0 {
		if !migrate {
			return nil, models.Errorf(models.CodeConflict, "the database schema is at %d and this program needs %d: run `lotteryadmin db migrate`, or leave out --no-migrate",
				st.Current, st.Newest)
		}
		if err := s.Await(ctx, func(ctx context.Context) (err error) { // migrations may take any time
			applied, err = s.up(ctx)
			return err
		}); err != nil {
			return applied, err
		}
	}
	return applied, s.AwaitShort(ctx, func(ctx context.Context) error {
		if err := s.NotTooNew(ctx, st.Newest); err != nil {
			return err
		}
		return s.seedGames(ctx)
	})
}

// up applies pending migrations and returns them. On PostgreSQL a session lock keeps two programs from doing so at
// once, and a migration that waits for a table is given up and retried, so that others may use the table meanwhile. On
// SQLite the loser of that race fails on a table that already exists, and finds nothing to do when it retries.
func (s *Store) up(ctx context.Context) (applied []string, err error) {
	if err := s.mayBegin(ctx); err != nil {
		return nil, err
	}
	p, err := s.provider(true)
	if err != nil {
		return nil, err
	}
	defer s.heldUp.Store(false)
	for attempt := 1; ; attempt++ {
		done, err := p.Up(ctx)
		if failed, ok := errors.AsType[*goose.PartialError](err); ok {
			done = failed.Applied
		}
		for _, m := range done {
			applied = append(applied, path.Base(m.Source.Path))
		}
		if err == nil {
			return applied, nil
		}
		if !heldUp(err) && denied(err) != "" || diskFull(err) {
			return applied, unavailable(err)
		}
		again := 100 * time.Millisecond
		switch {
		case heldUp(err):
			s.heldUp.Store(true)
			again = lockPause
		case s.dialect == Postgres || attempt == 10:
			return applied, fmt.Errorf("migrate the database: %w", err)
		}
		select {
		case <-ctx.Done():
			return applied, fmt.Errorf("migrate the database: %w", err)
		case <-time.After(again):
		}
	}
}

// NotTooNew refuses a database that a newer program has changed so that a program with migrations up to newest would
// malfunction on it (CodeConflict).
func (s *Store) NotTooNew(ctx context.Context, newest int64) error {
	var text string
	if err := s.reader(ctx).Table("meta").Select("value").Where("name = ?", metaOldestSchema).Limit(1).Scan(&text).Error; err != nil {
		return unavailable(err)
	}
	oldest, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return fmt.Errorf("meta.%s: %w", metaOldestSchema, err)
	}
	if oldest > newest {
		return models.Errorf(models.CodeConflict, "this database was upgraded by a newer release (it needs a program that knows schema %d; this one knows %d): install the newer release",
			oldest, newest)
	}
	return nil
}

// seedGames adds the product's games and updates the built-in ones. It writes only if something differs.
func (s *Store) seedGames(ctx context.Context) error {
	shipped, err := configs.Games()
	if err != nil {
		return fmt.Errorf("read the product's games: %w", err)
	}
	stored, err := s.Games(ctx)
	if err != nil {
		return err
	}
	have := map[string]models.Game{}
	for _, g := range stored {
		have[g.ID] = g
	}
	var stale []models.Game
	for _, g := range shipped {
		old, ok := have[g.ID]
		switch {
		case ok && (!old.Builtin || sameGame(old, g)):
		case ok:
			g.CreatedAt = old.CreatedAt
			stale = append(stale, g)
		default:
			g.CreatedAt = s.now()
			stale = append(stale, g)
		}
	}
	if len(stale) == 0 {
		return nil
	}
	return s.transaction(ctx, func(tx *gorm.DB) error {
		if err := tx.Clauses(clause.OnConflict{UpdateAll: true}).Create(&stale).Error; err != nil {
			return fmt.Errorf("add the product's games: %w", err)
		}
		return s.bumpDataVersion(tx)
	})
}

func sameGame(a, b models.Game) bool {
	aDays, errA := a.DrawDays.Value()
	bDays, errB := b.DrawDays.Value()
	return errA == nil && errB == nil && aDays == bDays && a.Name == b.Name && a.Digits == b.Digits &&
		a.Tods == b.Tods && a.Jurisdiction == b.Jurisdiction && a.Timezone == b.Timezone
}
