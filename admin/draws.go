package admin

import (
	"github.com/urfave/cli/v2"

	"lottery/jobs/importer"
	"lottery/models"
)

func (t *tool) draws() *cli.Command {
	return &cli.Command{Name: "draws", Usage: "historical draws", Subcommands: []*cli.Command{
		{
			Name: "import", Usage: "import files as a lottery publishes them", ArgsUsage: "FILE|URL…",
			Description: "Each file is imported whole or not at all, and importing it again changes nothing. - is stdin.\n" +
				"An address that is typed here may lie in a private network; one that `draws sync` fetches only if\n" +
				"feeds_allow_private says so.\n" +
				"Rows that contradict their game, their file or what is stored are rejected: then the exit code is 3.\n" +
				"A file that cannot be used leaves the others as they are: then it is 1.\n" +
				"Draws that came from a lottery's feed and are not in its file any more are told of, and stay.\n" +
				"Where --strict refuses, the summary says refused, and counts what would have been imported.\n" +
				"A report holds what stood in the files as it stood there: a spreadsheet may take it for formulas.\n\n" +
				"Example:\n  lotteryadmin draws import --feed ny-open-data numbers-win4.csv --report rejected.csv\n" +
				"  lotteryadmin draws export | lotteryadmin draws import --feed csv - --database-url sqlite:copy.db",
			Flags: []cli.Flag{
				&cli.StringFlag{Name: "feed", Required: true, Usage: "whose form it is: the feed `ID`, one of " + orList(importer.Feeds())},
				&cli.BoolFlag{Name: "dry-run", Usage: "tell what would happen, and write nothing"},
				&cli.BoolFlag{Name: "strict", Usage: "import all files without any rejection, or none of them"},
				&cli.StringFlag{Name: "report", Usage: "write every rejection to `FILE`, as CSV"},
			},
			Action: t.stored(audited(drawsImport)),
		},
		t.drawsSync(),
		{
			Name: "set", Usage: "say what was drawn, by your own word",
			Description: "Settles a conflict or enters an official correction. No feed corrects it afterwards; the digits\n" +
				"that stood there are kept as a revision, and the add-ons stay.\n\n" +
				"Example:\n  lotteryadmin draws set --game ny-win-4 --date 2007-06-10 --tod Midday --number 0008 \\\n" +
				"    --reason \"the lottery's own archive says 0008\"",
			Flags: append(slotFlags(), &cli.StringFlag{Name: "number", Required: true, Usage: "the `DIGITS` in drawn order, leading zeros included"},
				reasonFlag()),
			Action: t.stored(audited(drawsSet)),
		},
		{
			Name: "unset", Usage: "say that a slot holds no draw, by your own word",
			Description: "What stood there is kept as a revision. Imports that bring the draw again are overruled;\n" +
				"`draws set` brings it back.\n\n" +
				"Example:\n  lotteryadmin draws unset --game nc-pick-3 --date 2025-06-01 --tod Day --sequence 2 \\\n" +
				"    --reason \"published by mistake\" --yes",
			Flags:  append(append(slotFlags(), reasonFlag()), yesFlag()...),
			Action: t.stored(audited(drawsUnset)),
		},
		{
			Name: "show", Usage: "show what is stored of a date, and what it said before",
			Description: "Shows each draw with its add-ons, the feed that it is from, and its earlier digits if it was corrected,\n" +
				"the oldest first. Draws that were taken back are shown too (void).\n\n" +
				"Example:\n  lotteryadmin draws show --game ny-win-4 --date 2007-06-10",
			Flags: []cli.Flag{
				gameFlag(true),
				&cli.StringFlag{Name: "date", Required: true, Usage: "the `DATE` of the draw in the game's own zone"},
				&cli.StringFlag{Name: "tod", Usage: "only at this `TIME` of day, such as Midday"},
			},
			Action: t.stored(drawsShow),
		},
		{
			Name: "corrections", Usage: "list draws that were corrected or taken back, newest first",
			Description: "Lists what each said before and after, by which feed, and the reason where it was an operator's word.\n\n" +
				"Example:\n  lotteryadmin draws corrections --game tx-pick-3 --from 2026-01-01",
			Flags: append([]cli.Flag{
				gameFlag(false),
				&cli.StringFlag{Name: "limit", Usage: "at most `N` corrections; 50 if left out"},
			}, dateFlags()...),
			Action: t.stored(drawsCorrections),
		},
		{
			Name: "verify", Usage: "look for gaps, and for draws that are impossible or off schedule",
			Description: "A gap is a run of dates on which the game should have drawn and no draw is held, or not that of the\n" +
				"time of day that is named. Off schedule is a draw at a time of a date at which the game does not draw:\n" +
				"a mistyped date, or a special draw. A problem is a row that cannot be: then the exit code is 1. Gaps\n" +
				"and draws off schedule alone are no failure.\n\n" +
				"Example:\n  lotteryadmin draws verify --game tx-pick-3",
			Flags:  []cli.Flag{gameFlag(false)},
			Action: t.stored(drawsVerify),
		},
		{
			Name: "export", Usage: "write draws to stdout, oldest first",
			Description: "Writes what `draws import --feed csv` reads back. The form is --format's matter, not --output's.\n" +
				"Draws that were taken back are left out. Add-ons are as they were imported: a spreadsheet may take\n" +
				"them for formulas.\n\n" +
				"Example:\n  lotteryadmin draws export --game va-pick-4 --from 2010-01-01 > va-pick-4.csv",
			Flags: append([]cli.Flag{
				gameFlag(false),
				&cli.StringFlag{Name: "format", Usage: "write `csv|ndjson`; csv if left out"},
			}, dateFlags()...),
			Action: t.stored(drawsExport),
		},
	}}
}

func gameFlag(required bool) cli.Flag {
	usage := "only the game `ID`"
	if required {
		usage = "the game's `ID`"
	}
	return &cli.StringFlag{Name: "game", Required: required, Usage: usage}
}

// slotFlags name one draw.
func slotFlags() []cli.Flag {
	return []cli.Flag{
		gameFlag(true),
		&cli.StringFlag{Name: "date", Required: true, Usage: "the `DATE` of the draw in the game's own zone"},
		&cli.StringFlag{Name: "tod", Required: true, Usage: "the `TIME` of day, such as Midday"},
		&cli.StringFlag{Name: "sequence", Usage: "which `N` of several draws in one slot; 1 if left out"},
	}
}

// dateFlags narrow a selection of draws.
func dateFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "from", Usage: "from this `DATE` of the draw on"},
		&cli.StringFlag{Name: "to", Usage: "up to this `DATE` of the draw, included"},
	}
}

func reasonFlag() cli.Flag {
	return &cli.StringFlag{Name: "reason", Required: true, Usage: "a `TEXT` that says why; it is kept with the draw"}
}

// slot reads the slot flags.
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
	return slot, err
}

// tod reads --tod; 0 where it was not given.
func (c *call) tod() (models.Tod, error) {
	if !c.IsSet("tod") {
		return 0, nil
	}
	tod, ok := models.ParseTod(c.String("tod"))
	if !ok {
		return 0, models.Errorf(models.CodeInvalid, "--tod must be %s, not %q", orList(allTods()), c.String("tod"))
	}
	return tod, nil
}

// dates reads --from and --to; nil where they were not given.
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

// draw is the draw object.
type draw struct {
	Game       string        `json:"game"`
	Date       models.Date   `json:"date"`
	Tod        string        `json:"tod"`
	Sequence   int           `json:"sequence"`
	Number     *string       `json:"number"` // null where the slot holds no draw
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

// heldNumber is the number of a slot; nil where it holds no draw.
func heldNumber(number string, void bool) *string {
	if void {
		return nil
	}
	return textOf(number)
}

// shownAddons is add-ons as JSON shows them: an object, also where there are none.
func shownAddons(a models.Addons) models.Addons {
	if a == nil {
		return models.Addons{}
	}
	return a
}
