package api

import (
	"time"

	"lottery/models"
	"lottery/models/catalog"
)

// overviewGameJSON is a game in /v1/overview.
type overviewGameJSON struct {
	Game         string            `json:"game"`
	GameName     string            `json:"game_name"`
	GameType     string            `json:"game_type"`
	Jurisdiction string            `json:"jurisdiction"`
	TotalDraws   int               `json:"total_draws"`
	DateRange    catalog.DateRange `json:"date_range"`
	Tods         []models.Tod      `json:"tods"`
	MissingDays  int               `json:"missing_days"`
}

type overviewJSON struct {
	Games       []overviewGameJSON `json:"games"`
	TotalGames  int                `json:"total_games"`
	TotalDraws  int                `json:"total_draws"`
	DateRange   catalog.DateRange  `json:"date_range"`
	DataVersion string             `json:"data_version"`
	UpdatedAt   time.Time          `json:"updated_at"`
}

// overview is /v1/overview: what the catalog holds, per game and in total. With game_type, totals cover only that type.
func (h *Handler) overview() endpoint {
	return endpoint{parameters: gameTypeOnly, answer: func(x *call) error {
		kind := x.bind.gameType(x.cat)
		if done, err := x.finished(); done {
			return err
		}
		return x.sendText("overview "+kind, func() any {
			v := x.cat.Version()
			out := overviewJSON{
				Games: []overviewGameJSON{}, DataVersion: v.String(), UpdatedAt: v.UpdatedAt.UTC().Truncate(time.Second),
			}
			for _, g := range gamesOf(x.cat, kind) {
				first, last := g.First(), g.Last()
				out.Games = append(out.Games, overviewGameJSON{
					Game: g.ID, GameName: g.Name, GameType: g.Type, Jurisdiction: g.Jurisdiction, TotalDraws: g.Len(),
					DateRange: catalog.DateRange{First: &first, Last: &last}, Tods: g.Tods().Tods(), MissingDays: g.MissingDays(),
				})
				out.TotalDraws += g.Len()
				if out.DateRange.First == nil || first < *out.DateRange.First {
					out.DateRange.First = &first
				}
				if out.DateRange.Last == nil || last > *out.DateRange.Last {
					out.DateRange.Last = &last
				}
			}
			out.TotalGames = len(out.Games)
			return out
		})
	}}
}
