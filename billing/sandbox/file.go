package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

// saveAfter is how long to gather changes before writing them.
const saveAfter = 200 * time.Millisecond

// saveSoon writes the file shortly after a change.
func (s *Sandbox) saveSoon() {
	if s.opts.File == "" || !s.dirty || s.saving || s.closed {
		return
	}
	s.saving = true
	time.AfterFunc(saveAfter, func() {
		s.mu.Lock()
		s.saving = false
		closed := s.closed
		s.mu.Unlock()
		if closed {
			return // Close writes it
		}
		if err := s.save(); err != nil {
			s.opts.Log.Error("the sandbox's file could not be written", "error", err)
		}
	})
}

// save writes the file if anything has changed, atomically.
func (s *Sandbox) save() error {
	if s.opts.File == "" {
		return nil
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	s.mu.Lock()
	if !s.dirty {
		s.mu.Unlock()
		return nil
	}
	b, err := json.Marshal(&s.d)
	s.dirty = err != nil
	s.mu.Unlock()
	if err == nil {
		err = replace(s.opts.File, b)
	}
	if err != nil {
		return fmt.Errorf("write the sandbox's state: %w", err)
	}
	return nil
}

// replace writes a file aside and renames it, so that a crash leaves the old one.
func replace(name string, b []byte) error {
	f, err := os.CreateTemp(filepath.Dir(name), filepath.Base(name)+".*") // mode 0600
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

// load reads the file if it exists.
func (s *Sandbox) load() error {
	b, err := os.ReadFile(s.opts.File)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read the sandbox's state: %w", err)
	}
	if err := s.restore(b); err != nil {
		return fmt.Errorf("read the sandbox's state from %s: %w", s.opts.File, err)
	}
	return nil
}

// Snapshot writes the whole state as JSON, including the webhook secrets.
func (s *Sandbox) Snapshot(w io.Writer) error {
	s.mu.Lock()
	b, err := json.Marshal(&s.d)
	s.mu.Unlock()
	if err != nil {
		return err
	}
	_, err = w.Write(b)
	return err
}

// Restore replaces the state with one that Snapshot wrote.
func (s *Sandbox) Restore(r io.Reader) error {
	b, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.restore(b); err != nil {
		return err
	}
	s.dirty = true
	s.catchUp()
	s.saveSoon()
	return nil
}

func (s *Sandbox) restore(b []byte) error {
	var d data
	if err := json.Unmarshal(b, &d); err != nil {
		return err
	}
	s.d, s.byID, s.agenda, s.queue = d, map[string]record{}, agenda{}, nil
	if s.d.Idempotency == nil {
		s.d.Idempotency = map[string]*saved{}
	}
	index(s, &s.d.Customers)
	index(s, &s.d.Methods)
	index(s, &s.d.Products)
	index(s, &s.d.Prices)
	index(s, &s.d.Sessions)
	index(s, &s.d.Subs)
	index(s, &s.d.Invoices)
	index(s, &s.d.Intents)
	index(s, &s.d.Charges)
	index(s, &s.d.Refunds)
	index(s, &s.d.Disputes)
	index(s, &s.d.Configs)
	index(s, &s.d.Portals)
	index(s, &s.d.Endpoints)
	index(s, &s.d.Events)
	index(s, &s.d.Deliveries)
	return nil
}

// index registers the records of a table and schedules what is due. Steps that turn out stale are skipped.
func index[T record](s *Sandbox, t *table[T]) {
	for _, r := range t.rows {
		s.byID[r.base().ID] = r
	}
	for _, r := range t.rows {
		s.plan(r)
	}
}
