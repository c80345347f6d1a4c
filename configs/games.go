package configs

import (
	_ "embed"
	"fmt"

	"github.com/goccy/go-yaml"

	"lottery/models"
)

//go:embed games.yaml
var gamesYAML []byte

// Games returns the games in games.yaml, which every new database contains.
func Games() ([]models.Game, error) {
	var entries []struct {
		ID, Name, Jurisdiction, Timezone string
		Digits                           int
		Tods                             []string
		DrawDays                         []models.DrawPeriod `yaml:"draw_days"`
	}
	if err := yaml.UnmarshalWithOptions(gamesYAML, &entries, yaml.Strict()); err != nil {
		return nil, fmt.Errorf("games.yaml: %w", err)
	}
	games := make([]models.Game, 0, len(entries))
	for _, e := range entries {
		g := models.Game{
			ID: e.ID, Name: e.Name, Digits: e.Digits, Jurisdiction: e.Jurisdiction, Timezone: e.Timezone,
			DrawDays: e.DrawDays, Builtin: true,
		}
		for _, name := range e.Tods {
			tod, ok := models.ParseTod(name)
			if !ok {
				return nil, fmt.Errorf("games.yaml: %s: %q is not a time of day", e.ID, name)
			}
			g.Tods = g.Tods.With(tod)
		}
		if err := g.Validate(); err != nil {
			return nil, fmt.Errorf("games.yaml: %w", err)
		}
		games = append(games, g)
	}
	return games, nil
}
