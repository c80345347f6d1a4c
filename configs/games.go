package configs

import (
	_ "embed"
	"fmt"
	"time"

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
		if err := checkDrawDays(g.DrawDays); err != nil {
			return nil, fmt.Errorf("games.yaml: %s: %w", g.ID, err)
		}
		games = append(games, g)
	}
	return games, nil
}

// checkDrawDays refuses names that DrawDays.On would silently never match.
func checkDrawDays(days models.DrawDays) error {
	weekdays := map[string]bool{}
	for d := time.Sunday; d <= time.Saturday; d++ {
		weekdays[d.String()[:3]] = true
	}
	for _, p := range days {
		for _, name := range p.Days {
			if !weekdays[name] {
				return fmt.Errorf("%q is not a weekday", name)
			}
		}
		for _, name := range p.Tods {
			if _, ok := models.ParseTod(name); !ok {
				return fmt.Errorf("%q is not a time of day", name)
			}
		}
		for _, off := range p.Except {
			if _, err := time.Parse("01-02", off); err != nil {
				return fmt.Errorf("%q is not a day of the form MM-DD", off)
			}
		}
	}
	return nil
}
