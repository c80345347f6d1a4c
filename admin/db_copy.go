package admin

import (
	"context"
	"errors"
	"time"

	"lottery/jobs/importer"
	"lottery/models"
	"lottery/models/store"
)

// copied is what `db copy` prints.
type copied struct {
	From       string        `json:"from"`
	Dialect    string        `json:"dialect"` // the target's
	Rows       int64         `json:"rows"`
	DurationMS int64         `json:"duration_ms"`
	Tables     []copiedTable `json:"tables"`
}

type copiedTable struct {
	Table string `json:"table"`
	Rows  int64  `json:"rows"`
}

// dbCopy checks the source before it opens, and perhaps creates, the target.
func dbCopy(ctx context.Context, c *call) (err error) {
	from, err := store.OpenSource(ctx, c.String("from"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, from.Close()) }()
	if from.Is(c.cfg.DatabaseURL) {
		return models.Errorf(models.CodeConflict, "--from is the configured database itself; give another one to fill (--database-url, or database_url)")
	}
	return opened(audited(func(ctx context.Context, c *call) error { return c.copyFrom(ctx, from) }))(ctx, c)
}

func (c *call) copyFrom(ctx context.Context, from *store.Source) error {
	bar := c.newProgress()
	began := time.Now()
	done, err := c.store.CopyFrom(ctx, from, func(table string, done, total int64) {
		bar.at(importer.Progress{File: table, Phase: "copying", Done: done, Total: total})
	})
	bar.end()
	c.object = done.From
	if err != nil {
		return err
	}
	result := copied{From: done.From, Dialect: c.store.Dialect(), Rows: done.Rows, DurationMS: time.Since(began).Milliseconds(), Tables: []copiedTable{}}
	for _, t := range done.Tables {
		result.Tables = append(result.Tables, copiedTable(t))
	}
	c.say("Copied %s of %s. Point database_url at the copy, run `lotteryadmin doctor`, and start the servers.",
		models.Count(result.Rows, "row"), models.Count(len(result.Tables), "table"))
	return c.result(result)
}
