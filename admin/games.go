package admin

import (
	"context"
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
	tods, err := models.ParseTodSet(c.String("tods"))
	if err != nil {
		return models.Errorf(models.CodeInvalid, "--tods: %v", err)
	}
	g, err := c.store.AddGame(ctx, models.Game{
		ID: c.String("id"), Name: strings.TrimSpace(c.String("name")), Digits: digits, Tods: tods,
		Jurisdiction: strings.TrimSpace(c.String("jurisdiction")), Timezone: c.String("timezone"),
	})
	if err != nil {
		return err
	}
	return c.result(gameOf(&g, store.Holding{}))
}
