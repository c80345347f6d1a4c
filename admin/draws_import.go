package admin

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"lottery/jobs/importer"
	"lottery/models"
)

const shownRejections = 20 // without --report

// imported is the result. If --strict refused the files, the counts are what would have been done: nothing was.
type imported struct {
	models.ImportSummary
	Refused bool `json:"refused,omitempty"`
}

func drawsImport(ctx context.Context, c *call) (err error) {
	feed := c.String("feed")
	if !slices.Contains(importer.Feeds(), feed) {
		return models.Errorf(models.CodeInvalid, "%q is not a feed; use %s", feed, models.OrList(importer.Feeds()))
	}
	c.object, c.unchanged = feed, c.Bool("dry-run")
	if err := c.store.NotDemo(ctx); err != nil {
		return err
	}
	sources, err := c.sources(c.Args().Slice())
	if err != nil {
		return err
	}
	report, err := c.newReport(c.Args().Slice())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, report.discard()) }()

	bar := c.newProgress()
	result, err := importer.Run(ctx, c.store, sources, importer.Options{
		Feed: feed, DryRun: c.Bool("dry-run"), Strict: c.Bool("strict"), Now: c.env.Now,
		Progress: bar.at, OnRejection: report.add,
	})
	bar.end()
	if err == nil {
		err = report.publish()
	}
	outcome := imported{result.Summary, result.Refused}
	if err != nil {
		return errors.Join(err, c.result(outcome)) // completed files stand: say what was done
	}
	failure := importOutcome(&result, c.Bool("dry-run"))
	if len(result.FileErrors) == len(sources) {
		return failure // without counts: no file could be used
	}
	report.show(result.Summary.Rejected)
	c.warnIgnored(feed, result.Summary.IgnoredColumns)
	c.warnSkipped(feed, result.Summary.SkippedLines)
	c.warnWithdrawn(feed, &result.Summary)
	return c.finish(outcome, failure)
}

// warnIgnored names the columns that were not read. They are no failure: everything known was imported.
func (c *call) warnIgnored(feed string, columns []models.IgnoredColumn) {
	for _, x := range columns {
		c.say("%s: warning: %s has no column %q: its values are not read; if they are draws or add-on balls, look for a newer lotteryadmin, or import them with --feed csv",
			x.File, feed, x.Column)
	}
}

// warnSkipped names the lines that were taken for titles but hold numbers.
func (c *call) warnSkipped(feed string, lines []models.SkippedLine) {
	for _, x := range lines {
		c.say("%s: warning: line %d was skipped as a title or a notice: %q; if it is a draw, write it as %s does, and import the file again", x.File, x.Line, x.Text, feed)
	}
}

// warnWithdrawn warns about stored draws that their feed no longer publishes; the result lists them. Only a person can
// say which of them never happened.
func (c *call) warnWithdrawn(feed string, s *models.ImportSummary) {
	if s.Withdrawn == 0 {
		return
	}
	first, more := &s.WithdrawnDraws[0], ""
	if n := s.Withdrawn - 1; n > 0 {
		more = fmt.Sprintf(" and %d more", n)
	}
	c.say("%s: warning: %s does not have %s any more that came from it, though it has draws before and after: %s%s",
		first.File, feed, models.Count(s.Withdrawn, "stored draw"), first, more)
	c.say("They stay stored. Use `lotteryadmin draws unset` to remove a draw that never happened, or `lotteryadmin draws set` to confirm one, so that it is not reported again.")
}

// importOutcome returns the worst of what went wrong.
func importOutcome(result *importer.Result, dryRun bool) error {
	would := ""
	if dryRun {
		would = "would be "
	}
	rejected := fmt.Sprintf("%d of %d draws %srejected", result.Summary.Rejected, result.Summary.Draws, would)
	var faults []string
	for _, f := range result.FileErrors {
		faults = append(faults, f.Error())
	}
	if result.Refused {
		if result.Summary.Rejected > 0 {
			faults = append(faults, rejected)
		}
		faults = append(faults, "nothing was imported: --strict imports all files only if each can be read and nothing is rejected")
	}
	switch {
	case len(faults) > 0:
		return errors.New(strings.Join(faults, "\nlotteryadmin: "))
	case result.Summary.Rejected > 0:
		return rejectedError{rejected}
	default:
		return nil
	}
}
