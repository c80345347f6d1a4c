package admin

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"lottery/models"
	"lottery/models/store"
)

// report receives an import's rejections: it writes all of them to the file of --report, or keeps the first few to
// show.
type report struct {
	call  *call
	path  string // "" without --report
	temp  *os.File
	final string // what temp will be renamed to; "" = temp is already what --report names
	csv   *csv.Writer
	first []models.Rejection
}

// newReport opens the report before anything is imported. Until it is complete, it is a temporary file beside its final
// name.
func (c *call) newReport(files []string) (*report, error) {
	r := &report{call: c, path: c.String("report")}
	switch r.path {
	case "":
		return r, nil
	case "-":
		return nil, models.Errorf(models.CodeInvalid, "--report needs a file name; stdout is for the summary")
	}
	target := r.path
	if info, err := os.Stat(r.path); err == nil {
		if err := c.replaceable(r.path, info, files); err != nil {
			return nil, err
		}
		if !info.Mode().IsRegular() {
			// A device or a pipe, such as /dev/null: write to it, never replace it.
			if r.temp, err = os.OpenFile(r.path, os.O_WRONLY, 0); err != nil {
				return nil, fmt.Errorf("make the report: %w", err)
			}
			return r, r.begin()
		}
		if target, err = filepath.EvalSymlinks(r.path); err != nil {
			return nil, fmt.Errorf("make the report: %w", err)
		}
	}
	temp, err := os.CreateTemp(filepath.Dir(target), "."+filepath.Base(target)+".*")
	if err != nil {
		if of, ok := errors.AsType[*fs.PathError](err); ok {
			err = of.Err // the temporary file's name would mean nothing to the user
		}
		return nil, fmt.Errorf("make the report %s: %w", r.path, err)
	}
	r.temp, r.final = temp, target
	return r, r.begin()
}

// replaceable returns an error if the report must not replace an existing file: one to be imported, the database, or
// the file that receives the summary.
func (c *call) replaceable(path string, report os.FileInfo, files []string) error {
	same := func(other string) bool {
		info, err := os.Stat(other)
		return err == nil && os.SameFile(report, info)
	}
	if database, ok := store.SQLiteFile(c.cfg.DatabaseURL); ok {
		files = append(slices.Clip(files), database, database+"-wal", database+"-shm")
	}
	if slices.ContainsFunc(files, same) {
		return models.Errorf(models.CodeInvalid, "--report %s would replace a file that is in use; use another name", path)
	}
	for _, stream := range []*os.File{os.Stdout, os.Stderr} {
		if info, err := stream.Stat(); err == nil && info.Mode().IsRegular() && os.SameFile(report, info) {
			return models.Errorf(models.CodeInvalid, "--report needs a file of its own; stdout is for the summary")
		}
	}
	return nil
}

// begin writes the header.
func (r *report) begin() error {
	r.csv = csv.NewWriter(r.temp)
	if err := r.csv.Write([]string{"file", "line", "column", "value", "reason", "detail"}); err != nil {
		return errors.Join(fmt.Errorf("write the report: %w", err), r.discard())
	}
	return nil
}

// add adds one rejection.
func (r *report) add(rejection models.Rejection) error {
	if r.temp == nil {
		if len(r.first) < shownRejections {
			r.first = append(r.first, rejection)
		}
		return nil
	}
	err := r.csv.Write([]string{
		rejection.File, strconv.Itoa(rejection.Line), rejection.Column, rejection.Value, string(rejection.Reason), rejection.Detail,
	})
	if err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	return nil
}

const reportMode = 0o644 // it contains only published data

// publish gives the report its final name, replacing an older report.
func (r *report) publish() error {
	if r.temp == nil {
		return nil
	}
	r.csv.Flush()
	err := r.csv.Error()
	if err == nil && r.final != "" {
		if err = r.temp.Chmod(reportMode); err == nil {
			err = os.Rename(r.temp.Name(), r.final)
		}
	}
	if err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	return nil
}

// discard closes the report, and removes it if it was not published.
func (r *report) discard() error {
	if r.temp == nil {
		return nil
	}
	err := r.temp.Close()
	if r.final == "" {
		return err
	}
	if removed := os.Remove(r.temp.Name()); !errors.Is(removed, fs.ErrNotExist) {
		err = errors.Join(err, removed)
	}
	return err
}

// show tells people about the rejections, or where to find them.
func (r *report) show(rejected int) {
	if r.temp != nil && rejected > 0 {
		r.call.say("Every rejection is in %s.", r.path)
	}
	for i := range r.first {
		r.call.sayRejection(&r.first[i])
	}
	if more := rejected - len(r.first); r.temp == nil && more > 0 {
		r.call.say("… and %d more; use --report FILE", more)
	}
}

// sayRejection says where a rejected draw is, and why it is rejected.
func (c *call) sayRejection(r *models.Rejection) {
	where := fmt.Sprintf("%s:%d", r.File, r.Line)
	if r.Column != "" {
		where += ": " + r.Column
	}
	c.say("%s: %s %q: %s", where, r.Reason, r.Value, r.Detail)
}
