package store

import (
	"context"
	"strconv"
	"strings"
	"time"

	"gorm.io/gorm"

	"lottery/models"
)

// Health is what the operator's health check reports about a database.
type Health struct {
	Version  string
	Outdated bool          // it is a PostgreSQL before OldestPostgres
	Ahead    time.Duration // how far PostgreSQL's clock is ahead of this machine's
	Away     time.Duration // how long the way to PostgreSQL and back takes; 0 for SQLite
	Writable error         // why nothing can be written; nil = it can
	Damage   string        // what is wrong with SQLite's file; "" = nothing found
	Unread   bool          // the file is too large to be checked while somebody waits
	Risks    []string      // PostgreSQL settings, such as "fsync off", that may lose committed data
	Allowed  int           // how many connections PostgreSQL allows the user at most; 0 for SQLite
}

// OldestPostgres is the oldest major version of PostgreSQL that nodes can rely on: docs/decisions/0002-database.md says
// why.
const OldestPostgres = 14

// outdated reports whether a version of PostgreSQL is older than OldestPostgres.
func outdated(version string) bool {
	major, _, _ := strings.Cut(version, ".")
	n, err := strconv.Atoi(major)
	return err == nil && n < OldestPostgres
}

// checkTime bounds the check of SQLite's file.
const checkTime = 10 * time.Second

// Health inspects the database without changing anything, even in an empty one.
func (s *Store) Health(ctx context.Context) (Health, error) {
	var h Health
	query := "SELECT sqlite_version()"
	if s.dialect == Postgres {
		query = "SELECT current_setting('server_version')"
	}
	if err := s.reader(ctx).Raw(query).Scan(&h.Version).Error; err != nil {
		return h, unavailable(err)
	}
	if s.dialect == Postgres {
		h.Outdated = outdated(h.Version)
		for range 5 { // the first time, the statement is prepared, and a busy machine may be slow several times
			var now time.Time
			asked := time.Now()
			if err := s.reader(ctx).Raw("SELECT clock_timestamp()").Scan(&now).Error; err != nil {
				return h, unavailable(err)
			}
			if took := time.Since(asked); h.Away == 0 || took < h.Away {
				h.Ahead, h.Away = now.Sub(asked.Add(took/2)), took
			}
		}
		const risks = "SELECT name || ' ' || setting FROM pg_settings WHERE name IN ('fsync', 'full_page_writes', 'synchronous_commit') AND setting = 'off' ORDER BY name"
		if err := s.reader(ctx).Raw(risks).Scan(&h.Risks).Error; err != nil {
			return h, unavailable(err)
		}
		if err := s.reader(ctx).Raw(allowedConnections).Scan(&h.Allowed).Error; err != nil {
			return h, unavailable(err)
		}
	} else if err := s.damage(ctx, &h); err != nil {
		return h, err
	}
	h.Writable = s.writable(ctx)
	return h, nil
}

// allowedConnections is the least of what the server, the database and the role allow; the last two do not apply to a
// superuser. reserved_connections is of PostgreSQL 16.
const allowedConnections = "SELECT CASE WHEN rolsuper THEN all_of_them ELSE LEAST(" +
	"all_of_them - current_setting('superuser_reserved_connections')::int - COALESCE(NULLIF(current_setting('reserved_connections', true), ''), '0')::int, " +
	"CASE WHEN rolconnlimit >= 0 THEN rolconnlimit END, CASE WHEN datconnlimit >= 0 THEN datconnlimit END) END " +
	"FROM pg_roles, pg_database, LATERAL (SELECT current_setting('max_connections')::int AS all_of_them) AS server " +
	"WHERE rolname = session_user AND datname = current_database()"

// damage checks SQLite's whole file. Queries on a damaged one may work for a long time, while rows that can no longer
// be found are missing without an error.
func (s *Store) damage(ctx context.Context, h *Health) error {
	bounded, cancel := context.WithTimeout(ctx, checkTime)
	defer cancel()
	var found string
	err := s.reader(bounded).Raw("PRAGMA quick_check(1)").Scan(&found).Error
	switch {
	case err != nil && bounded.Err() != nil && ctx.Err() == nil:
		h.Unread = true
	case damaged(err):
		h.Damage = err.Error()
	case err != nil:
		return unavailable(err)
	case found != "ok":
		h.Damage = strings.Join(strings.Fields(found), " ")
	}
	return nil
}

// needSpace fails if PostgreSQL's disk is full. Small changes may fit into the tables' free space for a long time.
const needSpace = "CREATE TEMPORARY TABLE lottery_trial ON COMMIT DROP AS SELECT repeat('x', 1000) AS x FROM generate_series(1, 100)"

// writable tries a change that affects no row, which takes the right, the lock and a server that is no replica.
func (s *Store) writable(ctx context.Context) error {
	return s.transaction(ctx, func(tx *gorm.DB) error {
		if s.dialect == Postgres {
			var readOnly, temporary bool
			const may = "SELECT pg_is_in_recovery() OR current_setting('transaction_read_only')::bool, has_database_privilege(current_database(), 'TEMPORARY')"
			if err := tx.Raw(may).Row().Scan(&readOnly, &temporary); err != nil {
				return err
			}
			switch {
			case readOnly:
				return models.Errorf(models.CodeUnavailable, "it is a replica, or read-only")
			case !temporary:
				return models.Errorf(models.CodeUnavailable, "its user cannot create temporary tables, which imports need")
			}
			if err := unavailable(tx.Exec(needSpace).Error); err != nil {
				return err
			}
		}
		there, err := hasTable(tx, "accounts")
		switch {
		case err != nil:
			return err
		case there:
			return tx.Exec("UPDATE accounts SET email = email WHERE 1 = 0").Error
		case s.dialect == SQLite:
			return nil
		}
		return mayMakeTables(tx, "its user cannot create tables in it")
	})
}

// hasTable reports whether a table exists, whatever rights the user has on it. GORM's HasTable asks PostgreSQL's
// information_schema, which omits tables that the user may not use.
func hasTable(tx *gorm.DB, name string) (there bool, err error) {
	query := "SELECT to_regclass(?) IS NOT NULL"
	if tx.Name() != Postgres {
		query = "SELECT EXISTS (SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?)"
	}
	err = tx.Raw(query, name).Scan(&there).Error
	return there, err
}

// mayMakeTables returns an error if PostgreSQL has no schema to create tables in, or does not let its user: then the
// error says refused.
func mayMakeTables(tx *gorm.DB, refused string) error {
	var may *bool // nil = there is no such schema
	err := tx.Raw("SELECT has_schema_privilege(current_schema(), 'CREATE')").Scan(&may).Error
	switch {
	case err != nil:
		return unavailable(err)
	case may == nil:
		return models.Errorf(models.CodeUnavailable, "search_path names no existing schema: create it with CREATE SCHEMA, or set search_path for the database, for its user or in database_url")
	case !*may:
		return models.Errorf(models.CodeUnavailable, "%s", refused)
	}
	return nil
}
