package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"lottery/models/secret"
	"lottery/models/store"
	"lottery/models/store/storetest"
)

// documentedBackup is the backup that the documented steps restore, at a place where the server's user, who follows the
// steps, can write and read it.
const documentedBackup = "/var/lib/lottery/backups/lottery-2026-11-21"

// restoreSteps returns the shell commands under heading in docs/operations.md that mention names.
func restoreSteps(t *testing.T, heading, names string) string {
	t.Helper()
	text, err := os.ReadFile("../../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(text), "# "+heading+"\n")
	_, rest, fenced := strings.Cut(rest, "```sh\n")
	steps, _, closed := strings.Cut(rest, "\n```")
	if !found || !fenced || !closed || !strings.Contains(steps, names) {
		t.Fatalf("docs/operations.md has no commands under %q that name %s", heading, names)
	}
	return steps
}

// A backup taken while draws are imported and requests counted is a consistent snapshot, and the documented steps
// restore it after damage: draws, accounts, keys and counters.
func TestRestoreAsDocumented(t *testing.T) {
	t.Parallel()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		folder := t.TempDir()
		file := filepath.Join(folder, "lottery.db")
		restored(t, "sqlite:"+file, func(t *testing.T) {
			damage, err := os.OpenFile(file, os.O_WRONLY, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer damage.Close()
			if _, err := damage.WriteAt([]byte(strings.Repeat("damage! ", 1024)), 0); err != nil {
				t.Fatal(err)
			}
		}, func(backup string) (string, []string) {
			steps := strings.NewReplacer(documentedBackup, backup, "/var/lib/lottery", folder).Replace(restoreSteps(t, "Restore SQLite", documentedBackup))
			return steps, []string{"LOTTERY_DATABASE_URL=sqlite:" + file}
		})
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		for _, program := range []string{"pg_dump", "pg_restore", "psql", "createdb"} {
			if _, err := exec.LookPath(program); err != nil {
				storetest.Missing(t, program)
			}
		}
		server := storetest.NewPostgresServer(t)
		address := server.NewDatabase(t)
		u, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimPrefix(u.Path, "/")
		env := []string{"PGHOST=" + u.Query().Get("host"), "PGUSER=lottery", "LOTTERY_DATABASE_URL=" + address}
		restored(t, address, func(t *testing.T) {
			shell(t, "psql --quiet --dbname="+name+" --command='DROP TABLE draws CASCADE' --command='DROP TABLE api_keys CASCADE'", env)
		}, func(backup string) (string, []string) {
			steps := strings.NewReplacer("DB=lottery", "DB="+name, documentedBackup, backup).Replace(restoreSteps(t, "Restore PostgreSQL", documentedBackup))
			return steps, env
		})
	})
}

// After the documented move, a customer of a server on SQLite can use one on PostgreSQL: with the same key, and with as
// much of the day used.
func TestMovedAsDocumented(t *testing.T) {
	t.Parallel()
	file, address := filepath.Join(t.TempDir(), "lottery.db"), storetest.EmptyPostgres(t)
	const query = "/v1/draws/recent?game=ny-numbers"
	const from, to = "/var/lib/lottery/lottery.db", "postgres://lottery:PASSWORD@db.example.com/lottery"
	p := start(t, t.TempDir(), serveArgs("sqlite:"+file)...)
	key := newKey(t, "sqlite:"+file, "dev@example.com")
	importHundred(t, "sqlite:"+file, 0)
	storetest.Until(t, "the import to show", func() bool { return total(t, p, key, query) == 100 })
	if status, body := p.get(t, query, key); status != http.StatusOK {
		t.Fatalf("%d %s", status, body)
	}
	before := countedToday(t, p, key)
	if code := p.stop(t); code != 0 {
		t.Fatalf("the server ended with %d", code)
	}
	shell(t, strings.NewReplacer(from, file, to, "'"+address+"'").Replace(restoreSteps(t, "From SQLite to PostgreSQL", from)), nil)

	p = start(t, t.TempDir(), serveArgs(address)...)
	if got := total(t, p, key, query); got != 100 {
		t.Errorf("%d draws", got)
	}
	if used := countedToday(t, p, key); used != before+1 {
		t.Errorf("%d requests used, want %d", used, before+1)
	}
}

// What was ended after the backup was made, also by its owners themselves, is ended again by the documented steps.
func TestEndedSinceTheBackup(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	damaged, copied := filepath.Join(folder, "damaged.db"), filepath.Join(folder, "copy.db")
	address, restored := "sqlite:"+damaged, "sqlite:"+copied
	lives, leaked, leaves := newKey(t, address, "ann@example.com"), newKey(t, address, "ann@example.com"), newKey(t, address, "bob@example.com")
	if out, code := admin(t, address, "db", "backup", copied); code != 0 {
		t.Fatalf("backup: %d %s", code, out)
	}
	st := storetest.OpenURL(t, address, store.Options{})
	if _, err := st.RevokeKey(t.Context(), leaked[:secret.PrefixLength]); err != nil { // as the pages do
		t.Fatal(err)
	}
	bob, err := st.Account(t.Context(), "bob@example.com")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := st.DeleteAccount(t.Context(), bob.ID); err != nil {
		t.Fatal(err)
	}
	const documented = "sqlite:/var/lib/lottery/damaged/lottery.db"
	out := shell(t, strings.ReplaceAll(restoreSteps(t, "Afterwards", documented), documented, address), []string{"LOTTERY_DATABASE_URL=" + restored})
	if lines := strings.Split(strings.TrimSpace(out), "\n"); lines[len(lines)-1] != bob.ID {
		t.Errorf("the accounts that are not active are not told: %s", out)
	}
	var keys []struct{ Prefix, Status string }
	list, _ := admin(t, restored, "keys", "list", "--all")
	if err := json.Unmarshal(list, &keys); err != nil || len(keys) != 3 {
		t.Fatalf("%v %s", err, list)
	}
	for i, want := range []struct{ key, status string }{{lives, "active"}, {leaked, "revoked"}, {leaves, "revoked"}} {
		if keys[i].Prefix != want.key[:secret.PrefixLength] || keys[i].Status != want.status {
			t.Errorf("%v, want %s", keys[i], want.status)
		}
	}
}

func shell(t *testing.T, commands string, env []string) (output string) {
	t.Helper()
	cmd := exec.Command("bash", "-euo", "pipefail", "-c", commands)
	cmd.Env = append([]string{"PATH=" + filepath.Dir(binary(t, "lotteryadmin")) + ":" + os.Getenv("PATH"), "HOME=" + t.TempDir()}, env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s\n%s", err, commands, out)
	}
	return string(out)
}

// importHundred imports 100 draws of 1990, from day first on.
func importHundred(t *testing.T, url string, first int) {
	t.Helper()
	var csv strings.Builder
	csv.WriteString("game,date,tod,number\n")
	for i := first; i < first+100; i++ {
		fmt.Fprintf(&csv, "ny-numbers,%d-%02d-%02d,Evening,%03d\n", 1990+i/336, 1+i/28%12, 1+i%28, i)
	}
	if out, code := admin(t, url, "draws", "import", "--feed", "csv", writeFile(t, csv.String())); code != 0 {
		t.Errorf("import: %d %s", code, out)
	}
}

func countedToday(t *testing.T, p *process, key string) int {
	t.Helper()
	status, body := p.get(t, "/v1/usage", key)
	var usage struct{ Used int }
	if err := json.Unmarshal(body, &usage); err != nil || status != http.StatusOK {
		t.Fatalf("%d %v %s", status, err, body)
	}
	return usage.Used
}

func restored(t *testing.T, address string, damage func(*testing.T), steps func(backup string) (string, []string)) {
	t.Helper()
	const query = "/v1/draws/recent?game=ny-numbers"
	p := start(t, t.TempDir(), serveArgs(address)...)
	key := newKey(t, address, "dev@example.com") // 100 a day, so every request is written
	importHundred(t, address, 0)
	storetest.Until(t, "the import to show", func() bool { return total(t, p, key, query) == 100 })
	before := countedToday(t, p, key)

	var load sync.WaitGroup
	load.Go(func() { importHundred(t, address, 100) })
	load.Go(func() {
		for range 20 {
			p.get(t, query, key)
		}
	})
	backup := filepath.Join(t.TempDir(), "copy")
	out, code := admin(t, address, "db", "backup", backup)
	load.Wait()
	if code != 0 {
		t.Fatalf("backup: %d %s", code, out)
	}
	after := countedToday(t, p, key)
	lateKey := newKey(t, address, "late@example.com")
	if code := p.stop(t); code != 0 {
		t.Fatalf("the server ended with %d", code)
	}
	damage(t)
	if out, code := admin(t, address, "games", "list"); code == 0 {
		t.Fatalf("nothing is damaged: %s", out[:min(len(out), 300)])
	}
	commands, env := steps(backup)
	shell(t, commands, env)

	p = start(t, t.TempDir(), serveArgs(address)...)
	if got := total(t, p, key, query); got != 100 && got != 200 {
		t.Errorf("%d draws: half of an import was backed up", got)
	}
	if used := countedToday(t, p, key); used < before || used > after+1 {
		t.Errorf("%d requests used, want %d to %d", used, before, after+1)
	}
	if status, body := p.get(t, query, lateKey); status != http.StatusUnauthorized {
		t.Errorf("a key from after the backup: %d %s", status, body)
	}
	importHundred(t, address, 200)
	storetest.Until(t, "an import after the restore", func() bool { return total(t, p, key, query) > 200-1 })
}
