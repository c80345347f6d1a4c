package store

import (
	"context"
	"errors"
	"strings"
	"unicode/utf8"

	gosqlite "github.com/glebarez/go-sqlite"
	"github.com/jackc/pgx/v5/pgconn"
	"gorm.io/gorm"

	"lottery/models"
)

// ErrDiskFull means that nothing can be written.
var ErrDiskFull error = &models.Error{Code: models.CodeUnavailable, Message: "the database's disk is full: free up space"}

// unavailable marks err, unless it is nil, as a failure of the database itself.
func unavailable(err error) error {
	if err == nil {
		return nil
	}
	if diskFull(err) {
		return ErrDiskFull
	}
	if errors.Is(err, gorm.ErrForeignKeyViolated) { // only games are ever deleted
		return models.Errorf(models.CodeConflict, "the game was removed meanwhile; `lotteryadmin games list` lists those that there are")
	}
	if damaged(err) {
		return &models.Error{Code: models.CodeUnavailable, Message: "the database is damaged: stop the servers and replace it with a backup (docs/operations.md, Restore; with SQLite, the old file's -wal and -shm must go as well)", Err: err}
	}
	if Locked(err) {
		return &models.Error{Code: models.CodeUnavailable, Message: "another program, such as an import, is writing to the database: try again in a moment", Err: err}
	}
	if diskFails(err) {
		return &models.Error{Code: models.CodeUnavailable, Message: "the database's disk fails, or its file system became read-only: see the system's log", Err: err}
	}
	if advice := denied(err); advice != "" {
		return &models.Error{Code: models.CodeUnavailable, Message: advice, Err: err}
	}
	return &models.Error{Code: models.CodeUnavailable, Message: "the database does not respond", Err: err}
}

// translate passes on errors that a person can act on, and cancellations, and marks others as the database's.
func translate(err error) error {
	if models.ErrorCode(err) != "" || errors.Is(err, context.Canceled) {
		return err
	}
	return unavailable(err)
}

// Remedies if PostgreSQL does not let its user do something. Since release 15, a user who was only created, and owns
// nothing, may not create tables.
const (
	manySessions   = "the database gives each transaction another session, as a pooler does (PgBouncer's pool_mode=transaction): let it keep one session a connection (pool_mode=session), or name PostgreSQL itself in database_url"
	notOwner       = "the database does not let its user do this: make the user of database_url the owner of the database and of its tables, or, if it is to have fewer rights, run `lotteryadmin db migrate` as the owner and grant it what docs/operations.md says"
	statementLimit = "the database ended a statement that took longer than its statement_timeout, or an administrator ended it: ALTER ROLE … SET statement_timeout = 0 for the user of database_url, since imports and backups take longer"
	lockLimit      = "the database ended a statement that waited for a lock longer than its lock_timeout: ALTER ROLE … SET lock_timeout = 0 for the user of database_url, since its programs wait for each other"
	wrongUser      = "the database refuses the user or password of database_url: correct it; if it is in a file (database_url_file), running servers read it again by themselves"
	barred         = "the database does not let the user of database_url in, whatever the password: see that it exists and may log in, and what pg_hba.conf says for it and this machine"
	noTable        = "a table is missing: see that database_url names the right database, and that nobody changed its user's search_path"
	noConnection   = "the database has no connection left for its user: raise max_connections, or the user's CONNECTION LIMIT, to 16 for each node and 3 for a command"
	takesNoChanges = "the database takes no changes: see that database_url names the primary, not a replica, and that default_transaction_read_only is off"
)

// ofPooler is protocol_violation, which is what PgBouncer calls nearly all that it refuses by itself, users and passwords
// included: its list of users is its own.
const ofPooler = "08P01"

// noLock is lock_not_available: lock_timeout has passed.
const noLock = "55P03"

// remedies has what PostgreSQL says if its user may not connect or do something, if a statement took too long for a limit
// of its own, if the prepared statements of a session are another session's, and if a table is not there
// (https://www.postgresql.org/docs/current/errcodes-appendix.html).
var remedies = map[string]string{
	"28000": barred,         // invalid_authorization_specification
	"28P01": wrongUser,      // invalid_password
	"53300": noConnection,   // too_many_connections
	"42501": notOwner,       // insufficient_privilege
	"25006": takesNoChanges, // read_only_sql_transaction
	"57014": statementLimit, // query_canceled
	noLock:  lockLimit,
	"42P05": manySessions, // duplicate_prepared_statement
	"26000": manySessions, // invalid_sql_statement_name
	"42P01": noTable,      // undefined_table
}

// denied returns the remedy for err; "" = there is none, or it is not PostgreSQL's.
func denied(err error) string {
	pg, ok := errors.AsType[*pgconn.PgError](err)
	switch {
	case !ok:
		return ""
	case pg.Code == ofPooler && (strings.Contains(pg.Message, "authentication failed") || strings.Contains(pg.Message, "no such user")):
		return wrongUser
	default:
		return remedies[pg.Code]
	}
}

// postgresCode returns the SQLSTATE of PostgreSQL's error; "" = err is not PostgreSQL's.
func postgresCode(err error) string {
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok {
		return pg.Code
	}
	return ""
}

// sqliteCode returns SQLite's extended result code (https://sqlite.org/rescode.html); 0 = err is not SQLite's. All
// variants of a code have the same sqlitePrimary bits.
func sqliteCode(err error) int {
	if lite, ok := errors.AsType[*gosqlite.Error](err); ok {
		return lite.Code()
	}
	return 0
}

const sqlitePrimary = 0xFF

// saidBySQLite reports whether SQLite itself returned err. A commit that it fails, because its log cannot be written, has
// changed nothing; PostgreSQL may have committed and then not been able to say so.
func saidBySQLite(err error) bool { return sqliteCode(err) != 0 }

// Locked reports whether err is SQLITE_BUSY or a variant: another writer did not finish in time. The database itself
// does answer.
func Locked(err error) bool {
	const sqliteBusy = 5
	return sqliteCode(err)&sqlitePrimary == sqliteBusy
}

// diskFails reports whether err is SQLITE_IOERR or a variant, other than the one about the temporary folder.
func diskFails(err error) bool {
	const sqliteIOErr, sqliteGetTempPath = 10, 6410
	code := sqliteCode(err)
	return code&sqlitePrimary == sqliteIOErr && code != sqliteGetTempPath
}

// deadlocked reports whether err is PostgreSQL's deadlock_detected: the transaction was rolled back.
func deadlocked(err error) bool { return postgresCode(err) == "40P01" }

// damaged reports whether err is SQLITE_CORRUPT or a variant, or PostgreSQL's data_corrupted or index_corrupted.
func damaged(err error) bool {
	const sqliteCorrupt, dataCorrupted, indexCorrupted = 11, "XX001", "XX002"
	code := postgresCode(err)
	return sqliteCode(err)&sqlitePrimary == sqliteCorrupt || code == dataCorrupted || code == indexCorrupted
}

// diskFull reports whether err is SQLITE_FULL, SQLITE_IOERR_SHMSIZE (the file that SQLite makes to open the database)
// or PostgreSQL's disk_full.
func diskFull(err error) bool {
	const sqliteFull, sqliteShmSize, postgresFull = 13, 4874, "53100"
	code := sqliteCode(err)
	return code == sqliteFull || code == sqliteShmSize || postgresCode(err) == postgresFull
}

// storable reports whether a database can hold text. PostgreSQL fails even to search for other text (SQLSTATE 22021),
// which would look like an outage; no row can have it.
func storable(text string) bool { return utf8.ValidString(text) && strings.IndexByte(text, 0) < 0 }
