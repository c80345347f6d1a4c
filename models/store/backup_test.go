package store_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"lottery/models"
	"lottery/models/store"
	"lottery/models/store/storetest"
)

// A backup taken while accounts are created contains whole accounts, and as many as there were at one moment.
func TestBackupOfSQLiteInUse(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	url := storetest.EmptyURL(t)
	st := storetest.OpenURL(t, url, store.Options{})
	manyDraws(t, st)
	stop := make(chan struct{})
	var writer sync.WaitGroup
	writer.Go(func() {
		for n := 0; ; n++ {
			select {
			case <-stop:
				return
			default:
			}
			_, err := st.CreateKey(ctx, models.DefaultPlans(), store.NewKey{Account: strings.Repeat("x", n+1) + "@example.com", Create: true})
			if err != nil {
				t.Errorf("write during the backup: %v", err)
				return
			}
			if n == 50 {
				return
			}
		}
	})
	file := filepath.Join(t.TempDir(), "copy.db")
	size, err := store.Backup(ctx, url, file)
	close(stop)
	writer.Wait()
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(file)
	if err != nil || info.Size() != size || info.Mode().Perm() != 0o600 {
		t.Fatalf("%v %v, size %d", info, err, size)
	}
	restored := storetest.OpenURL(t, "sqlite:"+file, store.Options{})
	if err := restored.Prepare(ctx, false); err != nil {
		t.Fatal(err)
	}
	accounts, err := restored.Accounts(ctx, store.AccountFilter{})
	if err != nil {
		t.Fatal(err)
	}
	keys, err := restored.Keys(ctx, "")
	if err != nil || len(keys) != len(accounts) {
		t.Errorf("%d keys of %d accounts, %v", len(keys), len(accounts), err)
	}
	if _, want := exportedLines(t, st, store.DrawFilter{}); want == "" {
		t.Error("nothing was there to be backed up")
	} else if _, got := exportedLines(t, restored, store.DrawFilter{}); got != want {
		t.Errorf("the draws differ:\n%s", got)
	}
}

// A backup deletes what killed ones left in its folder, once it is certain that nobody writes there any more, and nothing
// else.
func TestBackupSweeps(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	old := time.Now().Add(-25 * time.Hour)
	files := map[string]time.Time{
		".lottery-backup-monday.123": old, ".lottery-backup-monday.123-journal": old, // left behind
		".lottery-backup-today.456": time.Now().Add(-23 * time.Hour), "monday": old, ".hidden": old, "lottery-backup-x": old,
	}
	for name, written := range files {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, written, written); err != nil {
			t.Fatal(err)
		}
	}
	url := storetest.EmptyURL(t)
	storetest.OpenURL(t, url, store.Options{})
	if _, err := store.Backup(t.Context(), url, filepath.Join(folder, "tuesday")); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if want := []string{".hidden", ".lottery-backup-today.456", "lottery-backup-x", "monday", "tuesday"}; !slices.Equal(names, want) {
		t.Errorf("the folder has %q, want %q", names, want)
	}
}

func TestBackupRefuses(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	dir := t.TempDir()
	file := filepath.Join(dir, "copy.db")
	if _, err := store.Backup(ctx, "sqlite:"+filepath.Join(dir, "none.db"), file); models.ErrorCode(err) != models.CodeNotFound {
		t.Errorf("no database: %v", err)
	}
	if err := os.WriteFile(file, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	url := storetest.EmptyURL(t)
	storetest.OpenURL(t, url, store.Options{})
	if _, err := store.Backup(ctx, url, file); models.ErrorCode(err) != models.CodeConflict {
		t.Errorf("an existing file: %v", err)
	}
	if text, err := os.ReadFile(file); err != nil || string(text) != "precious" {
		t.Errorf("the existing file is now %q, %v", text, err)
	}
	if _, err := store.Backup(ctx, url, ""); models.ErrorCode(err) != models.CodeInvalid || !strings.Contains(err.Error(), "give a new file") {
		t.Errorf("no name: %v", err)
	}
	if _, err := store.Backup(ctx, url, filepath.Join(dir, "missing", "copy.db")); err == nil || !strings.Contains(err.Error(), "there is no folder "+filepath.Join(dir, "missing")+":") {
		t.Errorf("no folder: %v", err)
	}
	garbage := filepath.Join(dir, "garbage.db")
	if err := os.WriteFile(garbage, []byte(strings.Repeat("not a database ", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Backup(ctx, "sqlite:"+garbage, filepath.Join(dir, "other.db")); err == nil {
		t.Error("garbage was backed up")
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 2 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}

func TestBackupOfPostgres(t *testing.T) {
	t.Parallel()
	url := storetest.EmptyPostgres(t)
	if _, err := exec.LookPath("pg_dump"); err != nil {
		storetest.Missing(t, "pg_dump")
	}
	ctx := context.Background()
	st := storetest.OpenURL(t, url, store.Options{})
	manyDraws(t, st)
	file := filepath.Join(t.TempDir(), "copy.dump")
	size, err := store.Backup(ctx, url, file)
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(file)
	if err != nil || info.Size() != size || info.Mode().Perm() != 0o600 {
		t.Fatalf("%v %v, size %d", info, err, size)
	}
	empty := storetest.EmptyPostgres(t)
	if out, err := exec.Command("pg_restore", "--no-owner", "--dbname="+empty, file).CombinedOutput(); err != nil {
		t.Fatalf("pg_restore: %v\n%s", err, out)
	}
	restored := storetest.OpenURL(t, empty, store.Options{})
	_, want := exportedLines(t, st, store.DrawFilter{})
	if _, got := exportedLines(t, restored, store.DrawFilter{}); got != want || want == "" {
		t.Errorf("the draws differ:\n%s", got)
	}
	if _, err := store.Backup(ctx, url, file); models.ErrorCode(err) != models.CodeConflict {
		t.Errorf("an existing file: %v", err)
	}
}

// A pg_dump of an older PostgreSQL than the server refuses; the error says what to install.
func TestBackupWithAnOlderPgDump(t *testing.T) {
	url := storetest.EmptyPostgres(t)
	bin := t.TempDir()
	says := "#!/bin/sh\necho 'pg_dump: error: aborting because of server version mismatch' >&2\n" +
		"echo 'pg_dump: detail: server version: 18.4; pg_dump version: 15.18' >&2\nexit 1\n"
	if err := os.WriteFile(filepath.Join(bin, "pg_dump"), []byte(says), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin)
	_, err := store.Backup(t.Context(), url, filepath.Join(bin, "copy.dump"))
	if err == nil || !strings.Contains(err.Error(), "client programs, in the server's version or newer") || !strings.Contains(err.Error(), "pg_dump version: 15.18") {
		t.Errorf("%v", err)
	}
}
