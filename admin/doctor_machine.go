package admin

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"lottery/configs"
	"lottery/jobs/feed"
	"lottery/models/store"
)

// clock compares this machine's clock with those that the other checks met. Stripe's clock is compared in Stripe's own
// check.
func (p *patient) clock(context.Context) finding {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.clocks) == 0 {
		return off("there is no other clock to compare")
	}
	return judgeClocks(p.clocks)
}

func judgeClocks(clocks map[string]time.Duration) finding {
	var said []string
	wrong := false
	for _, whose := range slices.Sorted(maps.Keys(clocks)) {
		ahead := clocks[whose]
		wrong = wrong || ahead.Abs() > store.ClocksApart
		said = append(said, fmt.Sprintf("%s from %s's", ahead.Round(time.Second), whose))
	}
	found := strings.Join(said, ", ")
	if wrong {
		return failing(found, "synchronize the clocks with NTP: key expiry uses this machine's clock, quotas use the store's")
	}
	return fine(found)
}

// What a disk must have free: room for the largest import's write-ahead log, and for a copy of the database.
const (
	littleRoom = 64 << 20
	someRoom   = 1 << 30
)

// disk checks the folder of the SQLite file, where a backup needs as much space again.
func (p *patient) disk(context.Context) finding {
	path, ok := store.SQLiteFile(p.cfg.DatabaseURL)
	if !ok {
		return off("PostgreSQL's disk is not looked at from here")
	}
	folder := filepath.Dir(path)
	free, err := freeSpace(folder)
	if err != nil {
		return failing(fmt.Sprintf("%s: %v", folder, err), "create the folder with `lotteryadmin db migrate`, or set database_url")
	}
	return judgeDisk(folder, free, sizeOf(path), sizeOf(path+"-wal"))
}

// freeSpace returns how many bytes this user may still write to the folder's disk.
func freeSpace(folder string) (uint64, error) {
	var disk unix.Statfs_t
	err := unix.Statfs(folder, &disk)
	return uint64(disk.Bavail) * uint64(disk.Bsize), err //nolint:unconvert // FreeBSD's are int64 and uint64
}

// sizeOf returns the size of a file; 0 = there is none.
func sizeOf(path string) uint64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return uint64(info.Size())
}

// judgeDisk also looks at SQLite's log, which cannot start over while somebody reads what it was at some moment: a shell
// that was left in a transaction lets it grow until the disk is full. An import may need as much as the database has.
func judgeDisk(folder string, free, database, log uint64) finding {
	found := fmt.Sprintf("%s free in %s, where the database takes %s", megabytes(free), folder, megabytes(database))
	remedy := "free up space, or move the database: a full disk stops changes and statistics"
	tooLong := log > littleRoom+database
	if tooLong {
		found += " and its log " + megabytes(log)
		remedy = "unless an import is running, end the program that keeps a transaction open in the database, such as a forgotten sqlite3 shell (`fuser` lists who uses the file): its log grows until then, and a full disk stops changes and statistics"
	}
	switch {
	case free < littleRoom+database/10:
		return failing(found, remedy)
	case free < someRoom || free < 2*database:
		return doubtful(found, remedy+"; a backup next to it needs as much as the database")
	case tooLong:
		return doubtful(found, remedy)
	default:
		return fine(found)
	}
}

// temp tries the temporary folder, where fetched files are kept while they are imported.
func (p *patient) temp(context.Context) finding {
	folder := os.TempDir()
	const remedy = "give the server's user write access, or set TMPDIR to a folder that it can write to (a container with a read-only root needs a tmpfs there): without it, no feed can be fetched"
	if err := tryFolder(folder); err != nil {
		return failing(fmt.Sprintf("%s cannot be written: %v", folder, err), remedy)
	}
	free, err := freeSpace(folder)
	if err != nil {
		return failing(fmt.Sprintf("%s: %v", folder, err), remedy)
	}
	return judgeTemp(folder, free)
}

func judgeTemp(folder string, free uint64) finding {
	found := fmt.Sprintf("%s free in %s", megabytes(free), folder)
	if free < feed.MostFetched {
		return doubtful(found, "free up space, or set TMPDIR to another folder: a feed can be as large as "+megabytes(feed.MostFetched))
	}
	return fine(found)
}

func megabytes(n uint64) string { return fmt.Sprintf("%d MB", n/1_000_000) }

// permissions looks for secrets that others can read, and for folders that cannot be written to.
func (p *patient) permissions(context.Context) finding {
	var wrong, remedies []string
	for _, path := range configs.SecretFiles(p.source) {
		if readable(path) {
			wrong, remedies = append(wrong, path+" contains a secret, and everybody can read it"), append(remedies, "chmod o-rwx "+path)
		}
	}
	path, ok := store.SQLiteFile(p.cfg.DatabaseURL)
	if ok && store.Exists(p.cfg.DatabaseURL) {
		for _, file := range []string{path, path + "-wal"} {
			if readable(file) {
				wrong, remedies = append(wrong, file+" contains personal data, and everybody can read it"), append(remedies, "chmod o-rwx "+file)
			}
		}
		if err := tryFolder(filepath.Dir(path)); err != nil {
			wrong = append(wrong, fmt.Sprintf("the folder of the database cannot be written: %v", err))
			remedies = append(remedies, "give "+filepath.Dir(path)+" to the user that runs the server")
		}
	}
	if len(wrong) > 0 {
		return failing(strings.Join(wrong, "; "), strings.Join(remedies, "; "))
	}
	return fine("other users cannot read secrets or data")
}

// readable reports whether everybody can read path: both the file and its folder.
func readable(path string) bool {
	info, err := os.Stat(path)
	folder, folderErr := os.Stat(filepath.Dir(path))
	const read, enter fs.FileMode = 0o004, 0o001
	return err == nil && folderErr == nil && !info.IsDir() && info.Mode().Perm()&read != 0 && folder.Mode().Perm()&enter != 0
}

// tryFolder creates a file and removes it: SQLite creates its log beside the database, and fetched data is kept in
// files.
func tryFolder(folder string) error {
	file, err := os.CreateTemp(folder, ".doctor-*")
	if err != nil {
		return err
	}
	if err := file.Close(); err != nil {
		return err
	}
	return os.Remove(file.Name())
}
