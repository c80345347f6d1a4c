package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
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
		_ = s.save() // it stays dirty: Close tries again, and reports
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
	s.dirty = false
	s.mu.Unlock()
	if err == nil {
		err = replace(s.opts.File, b)
	}
	if err != nil {
		s.mu.Lock()
		s.dirty = true
		s.mu.Unlock()
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
	if err == nil {
		err = json.Unmarshal(b, &s.d)
	}
	if err != nil {
		return fmt.Errorf("read the sandbox's state from %s: %w", s.opts.File, err)
	}
	index(s, &s.d.Customers)
	index(s, &s.d.Products)
	index(s, &s.d.Prices)
	index(s, &s.d.Sessions)
	index(s, &s.d.Subs)
	index(s, &s.d.Invoices)
	index(s, &s.d.Charges)
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
