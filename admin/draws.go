package admin

import (
	"github.com/urfave/cli/v2"

	"lottery/jobs/importer"
	"lottery/models"
)

func (t *tool) draws() *cli.Command {
	return &cli.Command{Name: "draws", Usage: "historical draws", Subcommands: []*cli.Command{
		{
			Name: "import", Usage: "import files published by a lottery", ArgsUsage: "FILE|URL…",
			Description: "Each file is imported whole or not at all, and importing it again changes nothing. - is stdin.\n" +
				"A URL is fetched like those of `draws sync`, in two minutes at most: download what takes longer to a file.\n" +
				"It may be in a private network; for those of `draws sync`, feeds_allow_private must allow that.\n" +
				"Rows that contradict their game, their file or what is stored are rejected; the exit code is then 3.\n" +
				"A file that cannot be used does not affect the others; the exit code is then 1.\n" +
				"Draws that came from a lottery's feed but are no longer in its file are reported, and kept.\n" +
				"If --strict refuses, the summary says refused, and counts what would have been imported.\n" +
				"A report contains values exactly as they are in the files: a spreadsheet may take them for formulas.\n\n" +
				"Example:\n  lotteryadmin draws import --feed ny-open-data numbers-win4.csv --report rejected.csv\n" +
				"  lotteryadmin draws export | lotteryadmin draws import --feed csv - --database-url sqlite:copy.db",
			Flags: []cli.Flag{
				&cli.StringFlag{Name: "feed", Required: true, Usage: "the format: a feed `ID`, one of " + models.OrList(importer.Feeds())},
				&cli.BoolFlag{Name: "dry-run", Usage: "report what would happen, without writing anything"},
				&cli.BoolFlag{Name: "strict", Usage: "import all files if nothing is rejected, otherwise none"},
				&cli.StringFlag{Name: "report", Usage: "write every rejection to `FILE`, as CSV"},
			},
			Action: t.stored(audited(drawsImport)),
		},
		t.drawsSync(),
		{
			Name: "set", Usage: "set a draw by hand, overriding the feeds",
			Description: "Settles a conflict or enters an official correction. Feeds no longer change the draw after that, until\n" +
				"`draws release`; the earlier digits are kept as a revision, and the add-ons stay.\n\n" +
				"Example:\n  lotteryadmin draws set --game ny-win-4 --date 2007-06-10 --tod Midday --number 0008 \\\n" +
				"    --reason \"the lottery's own archive says 0008\"",
			Flags: append(slotFlags(), &cli.StringFlag{Name: "number", Required: true, Usage: "the `DIGITS` in the order drawn, including leading zeros"},
				reasonFlag()),
			Action: t.stored(audited(drawsSet)),
		},
		{
			Name: "unset", Usage: "remove a draw by hand, overriding the feeds",
			Description: "The earlier digits are kept as a revision. Imports that contain the draw again are overruled;\n" +
				"`draws set` brings it back, and `draws release` leaves it to the feeds.\n\n" +
				"Example:\n  lotteryadmin draws unset --game nc-pick-3 --date 2025-06-01 --tod Day --sequence 2 \\\n" +
				"    --reason \"published by mistake\" --yes",
			Flags:  append(append(slotFlags(), reasonFlag()), yesFlag()...),
			Action: t.stored(audited(drawsUnset)),
		},
		t.drawsRelease(),
		{
			Name: "show", Usage: "show what is stored for a date, and what it said before",
			Description: "Shows each draw with its add-ons, the feed it came from and, if it was corrected, its earlier digits,\n" +
				"oldest first. Draws that were unset are shown as void.\n\n" +
				"Example:\n  lotteryadmin draws show --game ny-win-4 --date 2007-06-10",
			Flags: []cli.Flag{
				gameFlag(),
				&cli.StringFlag{Name: "date", Required: true, Usage: "the `DATE` of the draw in the game's own time zone"},
				&cli.StringFlag{Name: "tod", Usage: "only this `TIME` of day, such as Midday"},
			},
			Action: t.stored(drawsShow),
		},
		{
			Name: "corrections", Usage: "list draws that were corrected or unset, newest first",
			Description: "Lists what each draw said before and after, which feed changed it, and an operator's reason.\n\n" +
				"Example:\n  lotteryadmin draws corrections --game tx-pick-3 --from 2026-01-01",
			Flags: append([]cli.Flag{
				onlyGameFlag(),
				&cli.StringFlag{Name: "limit", Usage: "at most `N` corrections; default 50"},
			}, dateFlags()...),
			Action: t.stored(drawsCorrections),
		},
		{
			Name: "verify", Usage: "look for gaps, and for draws that are impossible or off schedule",
			Description: "A gap is a run of dates on which the game should have drawn but no draw is stored, or none for the time\n" +
				"of day shown. A draw is off schedule if the game does not draw at that time on that date: a mistyped\n" +
				"date, or a special draw. A problem is an impossible row; the exit code is then 1. Gaps and draws off\n" +
				"schedule alone are not a failure.\n\n" +
				"Example:\n  lotteryadmin draws verify --game tx-pick-3",
			Flags:  []cli.Flag{onlyGameFlag()},
			Action: t.stored(drawsVerify),
		},
		{
			Name: "export", Usage: "write draws to stdout, oldest first",
			Description: "Writes what `draws import --feed csv` reads back. The format depends on --format, not on --output.\n" +
				"Draws that were unset are left out. Add-ons are exactly as imported: a spreadsheet may take them for\n" +
				"formulas.\n\n" +
				"Example:\n  lotteryadmin draws export --game va-pick-4 --from 2010-01-01 > va-pick-4.csv",
			Flags: append([]cli.Flag{
				onlyGameFlag(),
				&cli.StringFlag{Name: "format", Usage: "write `csv|ndjson`; default csv"},
			}, dateFlags()...),
			Action: t.stored(drawsExport),
		},
	}}
}

// gameFlag returns the flag of a command that needs a game.
func gameFlag() cli.Flag {
	return &cli.StringFlag{Name: "game", Required: true, Usage: "the game's `ID`"}
}

// onlyGameFlag returns the flag that narrows a selection of draws to a game.
func onlyGameFlag() cli.Flag {
	return &cli.StringFlag{Name: "game", Usage: "only the game `ID`"}
}

// slotFlags returns the flags that identify one draw.
func slotFlags() []cli.Flag {
	return []cli.Flag{
		gameFlag(),
		&cli.StringFlag{Name: "date", Required: true, Usage: "the `DATE` of the draw in the game's own time zone"},
		&cli.StringFlag{Name: "tod", Required: true, Usage: "the `TIME` of day, such as Midday"},
		&cli.StringFlag{Name: "sequence", Usage: "the `N`th of several draws in one slot; default 1"},
	}
}

// dateFlags returns the flags that narrow a selection of draws.
func dateFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "from", Usage: "starting on this `DATE`"},
		&cli.StringFlag{Name: "to", Usage: "up to and including this `DATE`"},
	}
}

func reasonFlag() cli.Flag {
	return &cli.StringFlag{Name: "reason", Required: true, Usage: "a `TEXT` saying why; it is kept with the draw"}
}

// slot reads the slot flags, also for the audit log.
func (c *call) slot() (models.Slot, error) {
	slot := models.Slot{GameID: c.String("game"), Sequence: 1}
	date, err := models.ParseDate(c.String("date"))
	if err != nil {
		return slot, models.Errorf(models.CodeInvalid, "--date: %v", err)
	}
	slot.Date = date
	if slot.Tod, err = c.tod(); err != nil {
		return slot, err
	}
	if c.IsSet("sequence") {
		slot.Sequence, err = wholeNumber("--sequence", c.String("sequence"), 1, models.MaxSequence)
	}
	c.object = slot.String()
	return slot, err
}

// tod reads --tod; 0 if it was not given.
func (c *call) tod() (models.Tod, error) {
	if !c.IsSet("tod") {
		return 0, nil
	}
	tod, ok := models.ParseTod(c.String("tod"))
	if !ok {
		return 0, models.Errorf(models.CodeInvalid, "--tod must be %s, not %q", models.OrList(allTods()), c.String("tod"))
	}
	return tod, nil
}

// dates reads --from and --to; nil if not given.
func (c *call) dates() (from, to *models.Date, err error) {
	if from, err = c.date("from"); err != nil {
		return nil, nil, err
	}
	if to, err = c.date("to"); err != nil {
		return nil, nil, err
	}
	if from != nil && to != nil && *from > *to {
		return nil, nil, models.Errorf(models.CodeInvalid, "--from %s is after --to %s", from, to)
	}
	return from, to, nil
}

func allTods() []string {
	return todNames(models.NewTodSet(models.Morning, models.Midday, models.Day, models.Afternoon, models.Evening, models.Night))
}

// draw is a draw as commands print it.
type draw struct {
	Game       string        `json:"game"`
	Date       models.Date   `json:"date"`
	Tod        string        `json:"tod"`
	Sequence   int           `json:"sequence"`
	Number     *string       `json:"number"` // null if the slot holds no draw
	Addons     models.Addons `json:"addons"`
	Feed       string        `json:"feed"`
	Revision   int           `json:"revision"`
	Void       bool          `json:"void"`
	Reason     *string       `json:"reason"`
	IngestedAt string        `json:"ingested_at"`
}

func drawOf(d *models.Draw) draw {
	return draw{
		Game: d.GameID, Date: d.Date, Tod: d.Tod.String(), Sequence: d.Sequence, Number: heldNumber(d.Number, d.Void),
		Addons: shownAddons(d.Addons), Feed: d.Feed, Revision: d.Revision, Void: d.Void, Reason: textOf(d.Reason),
		IngestedAt: stamp(d.IngestedAt),
	}
}

// heldNumber returns the number of a slot; nil if it holds no draw.
func heldNumber(number string, void bool) *string {
	if void {
		return nil
	}
	return textOf(number)
}

// shownAddons returns add-ons as JSON shows them: an object, even if there are none.
func shownAddons(a models.Addons) models.Addons {
	if a == nil {
		return models.Addons{}
	}
	return a
}
