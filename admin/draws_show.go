package admin

import (
	"context"

	"lottery/models"
	"lottery/models/store"
)

// shownDraw is a draw with its slot's earlier contents, oldest first.
type shownDraw struct {
	draw
	Revisions []revision `json:"revisions"`
}

// revision is what a slot held before a correction.
type revision struct {
	Tod        string        `json:"tod"`
	Sequence   int           `json:"sequence"`
	Revision   int           `json:"revision"`
	Number     *string       `json:"number"` // null if the slot held no draw
	Addons     models.Addons `json:"addons"`
	Feed       string        `json:"feed"`
	Reason     *string       `json:"reason"`
	ReplacedAt string        `json:"replaced_at"`
	ReplacedBy string        `json:"replaced_by"`
}

func drawsShow(ctx context.Context, c *call) error {
	game := c.String("game")
	date, err := c.date("date")
	if err != nil {
		return err
	}
	tod, err := c.tod()
	if err != nil {
		return err
	}
	if _, err := c.store.Game(ctx, game); err != nil {
		return err
	}
	corrections, err := c.store.Corrections(ctx, store.CorrectionFilter{GameID: game, From: date, To: date})
	if err != nil {
		return err
	}
	list := []shownDraw{}
	err = c.store.StoredDraws(ctx, game, *date, *date, func(d *models.Draw) error {
		if tod == 0 || tod == d.Tod {
			list = append(list, shownDraw{drawOf(d), revisionsOf(d.Slot(), corrections)})
		}
		return nil
	})
	if err != nil {
		return err
	}
	if len(list) == 0 {
		of := ""
		if tod != 0 {
			of = " " + tod.String()
		}
		return models.Errorf(models.CodeNotFound, "%s holds no draw on %s%s: `lotteryadmin draws verify --game %s` shows what is missing", game, date, of, game)
	}
	return c.result(list)
}

// revisionsOf returns the corrections of one slot; all is sorted newest first.
func revisionsOf(slot models.Slot, all []store.Correction) []revision {
	list := []revision{}
	for i := len(all) - 1; i >= 0; i-- {
		r := &all[i].DrawRevision
		if (models.Slot{GameID: r.GameID, Date: r.Date, Tod: r.Tod, Sequence: r.Sequence}) != slot {
			continue
		}
		list = append(list, revision{
			Tod: r.Tod.String(), Sequence: r.Sequence, Revision: r.Revision, Number: heldNumber(r.Number, r.Void),
			Addons: shownAddons(r.Addons), Feed: r.Feed, Reason: textOf(r.Reason),
			ReplacedAt: stamp(r.ReplacedAt), ReplacedBy: r.ReplacedBy,
		})
	}
	return list
}

// correction is one change of a slot.
type correction struct {
	At           string        `json:"at"`
	Game         string        `json:"game"`
	Date         models.Date   `json:"date"`
	Tod          string        `json:"tod"`
	Sequence     int           `json:"sequence"`
	Was          *string       `json:"was"`    // null if the slot held no draw
	Became       *string       `json:"became"` // null if it holds none since
	WasAddons    models.Addons `json:"was_addons"`
	BecameAddons models.Addons `json:"became_addons"`
	WasFeed      string        `json:"was_feed"`
	Feed         string        `json:"feed"`
	Reason       *string       `json:"reason"`
}

const (
	listedCorrections = 50
	mostCorrections   = 1_000_000
)

func drawsCorrections(ctx context.Context, c *call) error {
	var filter store.CorrectionFilter
	var err error
	if filter.From, filter.To, err = c.dates(); err != nil {
		return err
	}
	if filter.Limit, err = c.number("limit", listedCorrections, mostCorrections); err != nil {
		return err
	}
	if filter.GameID, err = c.onlyGame(ctx); err != nil {
		return err
	}
	found, err := c.store.Corrections(ctx, filter)
	if err != nil {
		return err
	}
	return c.result(listOf(found, correctionOf))
}

func correctionOf(c *store.Correction) correction {
	return correction{
		At: stamp(c.ReplacedAt), Game: c.GameID, Date: c.Date, Tod: c.Tod.String(), Sequence: c.Sequence,
		Was: heldNumber(c.Number, c.Void), Became: heldNumber(c.NewNumber, c.NewVoid),
		WasAddons: shownAddons(c.Addons), BecameAddons: shownAddons(c.NewAddons),
		WasFeed: c.Feed, Feed: c.ReplacedBy, Reason: textOf(c.NewReason),
	}
}
