package admin

import (
	"context"
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"lottery/models"
	"lottery/models/store"
)

func (t *tool) games() *cli.Command {
	return &cli.Command{Name: "games", Usage: "digit games", Subcommands: []*cli.Command{
		{
			Name: "list", Usage: "list games and how many draws they have",
			Description: "The API lists only games that have draws.\n\nExample:\n  lotteryadmin games list --output json",
			Action:      t.stored(gamesList),
		},
		{
			Name: "add", Usage: "add a game",
			Description: "Its draws then come from `draws import --feed csv` or `draws set`.\n\n" +
				"Example:\n  lotteryadmin games add --id il-pick-3 --name \"Illinois Pick 3\" --digits 3 --tods Midday,Evening \\\n" +
				"    --jurisdiction IL --timezone America/Chicago",
			Flags: []cli.Flag{
				&cli.StringFlag{Name: "id", Required: true, Usage: "the game's `ID`: lowercase words joined by hyphens"},
				&cli.StringFlag{Name: "name", Required: true, Usage: "its `NAME`, as shown to people"},
				&cli.StringFlag{Name: "digits", Required: true, Usage: "how many digits it draws: `1…10`"},
				&cli.StringFlag{Name: "tods", Required: true, Usage: "its times of day `A,B`, from Morning, Midday, Day, Afternoon, Evening, Night"},
				&cli.StringFlag{Name: "jurisdiction", Required: true, Usage: "the `STATE` whose lottery it is, such as IL"},
				&cli.StringFlag{Name: "timezone", Required: true, Usage: "the time `ZONE` of its dates, such as America/Chicago"},
			},
			Action: t.stored(audited(gamesAdd)),
		},
		{
			Name: "set", Usage: "correct a game that you added", ArgsUsage: "GAME",
			Description: "GAME is an ID. What is left out stays as it is. Customers see it within 2 seconds. To correct an ID or the\n" +
				"number of digits, remove the game and add it again.\n\n" +
				"Example:\n  lotteryadmin games set il-pick-3 --name \"Illinois Pick 3\" --tods Midday,Evening",
			Flags: []cli.Flag{
				&cli.StringFlag{Name: "name", Usage: "its `NAME`, as shown to people"},
				&cli.StringFlag{Name: "tods", Usage: "all its times of day `A,B`; those with draws must be among them"},
				&cli.StringFlag{Name: "jurisdiction", Usage: "the `STATE` whose lottery it is, such as IL"},
				&cli.StringFlag{Name: "timezone", Usage: "the time `ZONE` of its dates, such as America/Chicago"},
			},
			Action: t.stored(audited(gamesSet)),
		},
		{
			Name: "remove", Usage: "remove a game that you added and that never had draws", ArgsUsage: "GAME", Flags: yesFlag(),
			Description: "GAME is an ID. Draws that were unset count, too.\n\n" +
				"Example:\n  lotteryadmin games remove il-pikc-3 --yes",
			Action: t.stored(audited(gamesRemove)),
		},
	}}
}

// game is a game as commands print it.
type game struct {
	ID           string       `json:"id"`
	Name         string       `json:"name"`
	GameType     string       `json:"game_type"`
	Digits       int          `json:"digits"`
	Tods         []string     `json:"tods"`
	Jurisdiction string       `json:"jurisdiction"`
	Timezone     string       `json:"timezone"`
	Builtin      bool         `json:"builtin"`
	Draws        int          `json:"draws"`
	First        *models.Date `json:"first"`
	Last         *models.Date `json:"last"`
}

func gameOf(g *models.Game, held store.Holding) game {
	out := game{
		ID: g.ID, Name: g.Name, GameType: g.Type(), Digits: g.Digits, Tods: todNames(g.Tods), Jurisdiction: g.Jurisdiction,
		Timezone: g.Timezone, Builtin: g.Builtin, Draws: held.Draws,
	}
	if held.Draws > 0 {
		out.First, out.Last = &held.First, &held.Last
	}
	return out
}

func todNames(set models.TodSet) []string {
	names := make([]string, 0, set.Len())
	for _, tod := range set.Tods() {
		names = append(names, tod.String())
	}
	return names
}

func gamesList(ctx context.Context, c *call) error {
	games, err := c.store.Games(ctx)
	if err != nil {
		return err
	}
	held, err := c.store.Holdings(ctx)
	if err != nil {
		return err
	}
	list := make([]game, 0, len(games))
	for i := range games {
		list = append(list, gameOf(&games[i], held[games[i].ID]))
	}
	return c.result(list)
}

func gamesAdd(ctx context.Context, c *call) error {
	digits, err := wholeNumber("--digits", c.String("digits"), 1, models.MaxDigits)
	if err != nil {
		return err
	}
	tods, err := c.tods()
	if err != nil {
		return err
	}
	c.object = c.String("id")
	g, err := c.store.AddGame(ctx, models.Game{
		ID: c.String("id"), Name: strings.TrimSpace(c.String("name")), Digits: digits, Tods: tods,
		Jurisdiction: strings.TrimSpace(c.String("jurisdiction")), Timezone: c.String("timezone"),
	})
	if err != nil {
		return err
	}
	return c.result(gameOf(&g, store.Holding{}))
}

// tods returns the times of day of --tods.
func (c *call) tods() (models.TodSet, error) {
	tods, err := models.ParseTodSet(c.String("tods"))
	if err != nil {
		return tods, models.Errorf(models.CodeInvalid, "--tods: %v", err)
	}
	return tods, nil
}

func gamesSet(ctx context.Context, c *call) error {
	change := store.GameChange{
		Name: strings.TrimSpace(c.String("name")), Jurisdiction: strings.TrimSpace(c.String("jurisdiction")), Timezone: c.String("timezone"),
	}
	if c.IsSet("tods") {
		var err error
		if change.Tods, err = c.tods(); err != nil {
			return err
		}
	}
	if change == (store.GameChange{}) {
		return models.Errorf(models.CodeInvalid, "games set needs what to change: --name, --tods, --jurisdiction or --timezone")
	}
	c.object = c.arg(0)
	g, err := c.store.ChangeGame(ctx, c.arg(0), change)
	if err != nil {
		return err
	}
	held, err := c.store.Holdings(ctx)
	if err != nil {
		return err
	}
	return c.result(gameOf(&g, held[g.ID]))
}

func gamesRemove(ctx context.Context, c *call) error {
	err := c.confirm(func() (string, error) {
		g, err := c.store.Game(ctx, c.arg(0))
		return fmt.Sprintf("Remove the game %s (%s)?", g.ID, g.Name), err
	})
	if err != nil {
		return err
	}
	c.object = c.arg(0)
	g, err := c.store.RemoveGame(ctx, c.arg(0))
	if err != nil {
		return err
	}
	return c.result(gameOf(&g, store.Holding{}))
}
