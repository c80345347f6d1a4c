package admin

import (
	"bufio"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"strconv"

	"lottery/models"
	"lottery/models/store"
)

// exporter writes draws one by one.
type exporter interface {
	begin(addons []string) error
	draw(d *models.Draw) error
	end() error
}

func drawsExport(ctx context.Context, c *call) error {
	var filter store.DrawFilter
	var err error
	if filter.From, filter.To, err = c.dates(); err != nil {
		return err
	}
	format := "csv"
	if c.IsSet("format") {
		if format, err = oneOf("--format", c.String("format"), "csv", "ndjson"); err != nil {
			return err
		}
	}
	if c.IsSet("output") && c.form != format {
		return models.Errorf(models.CodeInvalid, "--output %s: --format sets the format of exports, csv or ndjson; leave --output out", c.form)
	}
	out := exporter(newCSVExporter(c.env.Stdout))
	if format == "ndjson" {
		out = newNDJSONExporter(c.env.Stdout)
	}
	if filter.GameID, err = c.onlyGame(ctx); err != nil {
		return err
	}
	if err := c.store.Export(ctx, filter, out.begin, out.draw); err != nil {
		return fmt.Errorf("export: %w", err)
	}
	if err := out.end(); err != nil {
		return fmt.Errorf("export: %w", err)
	}
	return nil
}

const exportBuffer = 1 << 16

// csvExporter writes what the feed csv reads: LF line endings, quotes only where needed.
type csvExporter struct {
	w      *csv.Writer
	addons []string
	row    []string
}

func newCSVExporter(w io.Writer) *csvExporter {
	return &csvExporter{w: csv.NewWriter(bufio.NewWriterSize(w, exportBuffer))} // it has no buffer besides this one
}

func (e *csvExporter) begin(addons []string) error {
	e.addons = addons
	return e.w.Write(append([]string{"game", "date", "tod", "sequence", "number"}, addons...))
}

func (e *csvExporter) draw(d *models.Draw) error {
	e.row = append(e.row[:0], d.GameID, d.Date.String(), d.Tod.String(), strconv.Itoa(d.Sequence), d.Number)
	for _, name := range e.addons {
		e.row = append(e.row, d.Addons[name])
	}
	return e.w.Write(e.row)
}

func (e *csvExporter) end() error {
	e.w.Flush()
	return e.w.Error()
}

// ndjsonExporter writes one object per line.
type ndjsonExporter struct {
	buffer *bufio.Writer
	json   *json.Encoder
}

func newNDJSONExporter(w io.Writer) *ndjsonExporter {
	buffer := bufio.NewWriterSize(w, exportBuffer)
	e := json.NewEncoder(buffer)
	e.SetEscapeHTML(false)
	return &ndjsonExporter{buffer, e}
}

// exportedDraw is one line of NDJSON.
type exportedDraw struct {
	Game     string        `json:"game"`
	Date     models.Date   `json:"date"`
	Tod      models.Tod    `json:"tod"`
	Sequence int           `json:"sequence"`
	Number   string        `json:"number"`
	Addons   models.Addons `json:"addons"`
}

func (e *ndjsonExporter) begin([]string) error { return nil }

func (e *ndjsonExporter) draw(d *models.Draw) error {
	return e.json.Encode(exportedDraw{d.GameID, d.Date, d.Tod, d.Sequence, d.Number, shownAddons(d.Addons)})
}

func (e *ndjsonExporter) end() error { return e.buffer.Flush() }
