package admin

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"lottery/models"
)

// report takes the rejections of an import: all of them into the file of --report, or else the first few to show.
type report struct {
	call  *call
	path  string // "" without --report
	temp  *os.File
	final bool // temp is what --report names, not a file beside it
	out   *bufio.Writer
	csv   *csv.Writer
	first []models.Rejection
}

// newReport opens the report before anything is imported. It stands beside its final name until it is whole.
func (c *call) newReport() (*report, error) {
	r := &report{call: c, path: c.String("report")}
	if !c.IsSet("report") {
		return r, nil
	}
	if r.path == "" || r.path == "-" {
		return nil, models.Errorf(models.CodeInvalid, "--report needs the name of a file; stdout is for the summary")
	}
	if info, err := os.Stat(r.path); err == nil && !info.Mode().IsRegular() {
		// A device or a pipe, such as /dev/null: to be written to, never to be replaced.
		if r.temp, err = os.OpenFile(r.path, os.O_WRONLY, 0); err != nil {
			return nil, fmt.Errorf("make the report: %w", err)
		}
		r.final = true
		return r, r.begin()
	}
	temp, err := os.CreateTemp(filepath.Dir(r.path), "."+filepath.Base(r.path)+".*")
	if err != nil {
		return nil, fmt.Errorf("make the report: %w", err)
	}
	r.temp = temp
	return r, r.begin()
}

// begin writes the header.
func (r *report) begin() error {
	r.out = bufio.NewWriter(r.temp)
	r.csv = csv.NewWriter(r.out)
	if err := r.csv.Write([]string{"file", "line", "column", "value", "reason", "detail"}); err != nil {
		return errors.Join(fmt.Errorf("write the report: %w", err), r.discard())
	}
	return nil
}

// add takes one rejection.
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

const reportMode = 0o644 // what is in it was published

// publish gives the report its name; an older report of that name is replaced.
func (r *report) publish() error {
	if r.temp == nil {
		return nil
	}
	r.csv.Flush()
	err := errors.Join(r.csv.Error(), r.out.Flush())
	if err == nil && !r.final {
		if err = r.temp.Chmod(reportMode); err == nil {
			err = os.Rename(r.temp.Name(), r.path)
		}
	}
	if err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	return nil
}

// discard ends a report, and removes one that was not published.
func (r *report) discard() error {
	if r.temp == nil {
		return nil
	}
	err := r.temp.Close()
	if r.final {
		return err
	}
	if removed := os.Remove(r.temp.Name()); !errors.Is(removed, fs.ErrNotExist) {
		err = errors.Join(err, removed)
	}
	return err
}

// show tells people about the rejections, or where they are.
func (r *report) show(rejected int) {
	if r.temp != nil && rejected > 0 {
		r.call.say("Every rejection is in %s.", r.path)
	}
	for _, x := range r.first {
		where := fmt.Sprintf("%s:%d", x.File, x.Line)
		if x.Column != "" {
			where += ": " + x.Column
		}
		r.call.say("%s", clean(fmt.Sprintf("%s: %s %q: %s", where, x.Reason, x.Value, x.Detail)))
	}
	if more := rejected - len(r.first); r.temp == nil && more > 0 {
		r.call.say("… and %d more; use --report FILE", more)
	}
}
