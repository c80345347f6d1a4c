package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/glebarez/sqlite"
	"gorm.io/gorm"

	"lottery/models"
)

// Backup writes the state of the database at one moment to a new file (mode 0600), while servers continue to use
// it, and returns the file's size. For SQLite the file is a database, for PostgreSQL an archive for pg_restore. The
// file appears complete or not at all. CodeConflict: the file exists; CodeNotFound: there is no database;
// CodeInvalid: file is "".
func Backup(ctx context.Context, databaseURL, file string) (bytes int64, err error) {
	if file == "" { // for example an unset variable of a script
		return 0, models.Errorf(models.CodeInvalid, "the backup needs a file name: give a new file")
	}
	if !Exists(databaseURL) {
		return 0, models.Errorf(models.CodeNotFound, "there is no database at %s", databaseURL)
	}
	if _, err := os.Lstat(file); err == nil {
		return 0, fileExists(file)
	}
	sweep(filepath.Dir(file))
	temp, err := os.CreateTemp(filepath.Dir(file), unfinished+filepath.Base(file)+".*") // mode 0600
	if errors.Is(err, fs.ErrNotExist) {
		return 0, fmt.Errorf("there is no folder %s: make it first, for this user alone (mkdir -m 700)", filepath.Dir(file))
	}
	if err != nil {
		return 0, fmt.Errorf("make the backup's file: %w", err)
	}
	defer func() {
		err = errors.Join(err, temp.Close())
		for _, file := range []string{temp.Name(), temp.Name() + "-journal"} { // SQLite leaves its journal if interrupted
			if removed := os.Remove(file); !errors.Is(removed, fs.ErrNotExist) {
				err = errors.Join(err, removed)
			}
		}
	}()
	if path, ok := SQLiteFile(databaseURL); ok {
		err = backupSQLite(ctx, path, temp.Name())
	} else {
		err = backupPostgres(ctx, databaseURL, temp)
	}
	if err != nil {
		return 0, err
	}
	return publish(temp, file)
}

const (
	// unfinished begins the names of files of backups that are being written.
	unfinished = ".lottery-backup-"
	// abandoned is how long nothing was written to the file of a backup that was killed.
	abandoned = 24 * time.Hour
)

// sweep deletes what killed backups left in a folder. It is as large as the database, and has its personal data.
func sweep(folder string) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return // making the backup's file says why
	}
	for _, e := range entries {
		info, err := e.Info()
		if err == nil && strings.HasPrefix(e.Name(), unfinished) && info.Mode().IsRegular() && time.Since(info.ModTime()) > abandoned {
			_ = os.Remove(filepath.Join(folder, e.Name())) // somebody else's stays
		}
	}
}

// publish gives temp its final name, unless another file has taken it.
func publish(temp *os.File, file string) (int64, error) {
	if err := temp.Sync(); err != nil {
		return 0, fmt.Errorf("write the backup: %w", err)
	}
	info, err := temp.Stat()
	if err != nil {
		return 0, fmt.Errorf("write the backup: %w", err)
	}
	// Unlike a rename, a link never replaces a file; but some file systems have no links.
	switch err := os.Link(temp.Name(), file); {
	case errors.Is(err, fs.ErrExist):
		return 0, fileExists(file)
	case err != nil:
		if err := os.Rename(temp.Name(), file); err != nil {
			return 0, fmt.Errorf("name the backup: %w", err)
		}
	}
	return info.Size(), nil
}

func fileExists(file string) error {
	return models.Errorf(models.CodeConflict, "%s already exists: give a new file", file)
}

// backupSQLite fills the empty file target through its own read-only connection, so writers do not wait.
func backupSQLite(ctx context.Context, path, target string) error {
	options := url.Values{"_pragma": {"busy_timeout(5000)"}, "mode": {"rw"}} // rw: never makes a database
	db, err := gorm.Open(sqlite.Open(sqliteURI(path, options)), gormConfig())
	if err != nil {
		return unopened(path, err)
	}
	pool, err := db.DB()
	if err != nil {
		return fmt.Errorf("open %s: %w", path, err)
	}
	err = db.WithContext(ctx).Exec("VACUUM INTO ?", target).Error
	err = errors.Join(err, pool.Close())
	switch {
	case diskFull(err): // it only reads the database
		return models.Errorf(models.CodeUnavailable, "there is not enough space for the backup in %s: free up space, or give a file on another disk", filepath.Dir(target))
	case damaged(err): // a copy of a damaged database must not pass for a backup
		return unavailable(fmt.Errorf("copy %s: %w", path, err))
	case err != nil:
		return fmt.Errorf("copy %s: %w", path, err)
	}
	return nil
}

const installClients = "install PostgreSQL's client programs, in the server's version or newer"

// backupPostgres runs pg_dump, which takes its own snapshot.
func backupPostgres(ctx context.Context, databaseURL string, target *os.File) error {
	pgDump, err := exec.LookPath("pg_dump")
	if err != nil {
		return errors.New("backing up PostgreSQL needs pg_dump, which is not installed here: " + installClients)
	}
	address, password, err := libpqURL(databaseURL)
	if err != nil {
		return err
	}
	var complaints bytes.Buffer
	cmd := exec.CommandContext(ctx, pgDump, "--format=custom", "--no-password", "--dbname="+address)
	cmd.Env = os.Environ()
	if password != "" {
		cmd.Env = append(cmd.Env, "PGPASSWORD="+password) // everybody can see argv
	}
	cmd.Stdout, cmd.Stderr = target, &complaints
	if err := cmd.Run(); err != nil {
		text := strings.Join(strings.Fields(redact(complaints.String(), databaseURL)), " ")
		if strings.Contains(text, "server version mismatch") {
			return fmt.Errorf("pg_dump is older than the server: %s, so that they come first in PATH (%s)", installClients, text)
		}
		return fmt.Errorf("pg_dump failed: %s: %w", text, err)
	}
	return nil
}

// libpqURL returns databaseURL for PostgreSQL's own programs: without the password, which it returns separately, and
// without the parameters that only the Go driver knows.
func libpqURL(databaseURL string) (address, password string, err error) {
	u, err := url.Parse(databaseURL)
	if err != nil {
		return "", "", models.Errorf(models.CodeInvalid, "the database URL cannot be read")
	}
	password, _ = u.User.Password()
	if u.User != nil {
		u.User = url.User(u.User.Username())
	}
	query := u.Query()
	if p := query.Get("password"); p != "" {
		password = p
	}
	for name := range query {
		switch name {
		case "host", "hostaddr", "port", "user", "dbname", "sslmode", "sslcert", "sslkey", "sslrootcert", "sslsni",
			"sslnegotiation", "passfile", "service", "connect_timeout", "target_session_attrs", "channel_binding",
			"require_auth", "options", "application_name", "krbsrvname":
		default:
			query.Del(name)
		}
	}
	// libpq reads + literally, not as a space.
	u.RawQuery = strings.ReplaceAll(query.Encode(), "+", "%20")
	return u.String(), password, nil
}
