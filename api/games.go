package api

import (
	"bytes"
	"encoding/json"

	"lottery/models"
	"lottery/models/catalog"
)

var gameTypeOnly = []parameter{{name: "game_type"}}

// gameJSON is a game in /v1/games.
type gameJSON struct {
	Game         string            `json:"game"`
	GameName     string            `json:"game_name"`
	GameType     string            `json:"game_type"`
	Jurisdiction string            `json:"jurisdiction"`
	Digits       int               `json:"digits"`
	Tods         []models.Tod      `json:"tods"`
	LatestDraws  []json.RawMessage `json:"latest_draws"` // one of each tod, newest first
}

type gamesJSON struct {
	Games []gameJSON `json:"games"`
	Total int        `json:"total"`
}

// games is /v1/games: every game that has draws, with the newest draw of each tod.
func (h *Handler) games() endpoint {
	return endpoint{parameters: gameTypeOnly, answer: func(x *call) error {
		kind := x.bind.gameType(x.cat)
		if done, err := x.finished(); done {
			return err
		}
		return x.sendText("games "+kind, func() any {
			out := gamesJSON{Games: []gameJSON{}}
			x.records.begin(formJSON, false)
			for _, g := range gamesOf(x.cat, kind) {
				j := gameJSON{
					Game: g.ID, GameName: g.Name, GameType: g.Type, Jurisdiction: g.Jurisdiction, Digits: g.Digits,
					Tods: g.Tods().Tods(),
				}
				latest := g.Latest()
				for i := range latest {
					j.LatestDraws = append(j.LatestDraws, bytes.TrimSuffix(x.records.append(nil, latest[i:i+1]), comma))
				}
				out.Games = append(out.Games, j)
			}
			out.Total = len(out.Games)
			return out
		})
	}}
}

func gamesOf(cat *catalog.Catalog, kind string) []*catalog.Game {
	if kind == "" {
		return cat.Games()
	}
	return cat.OfType(kind)
}

// sendText answers with the JSON of what value returns. It calls value once per catalog and name; names must be few,
// since texts are cached as long as their catalog is served.
func (x *call) sendText(name string, value func() any) error {
	c := x.h.texts.Load()
	if version := x.cat.Version().Token; c == nil || c.version != version {
		c = &textCache{version: version}
		x.h.texts.Store(c)
	}
	text, ok := c.texts.Load(name)
	if !ok {
		b, err := json.Marshal(value())
		if err != nil {
			return err
		}
		text, _ = c.texts.LoadOrStore(name, append(b, '\n'))
	}
	x.body = append(x.body[:0], text.([]byte)...) //nolint:forcetypeassert // the map holds nothing else
	x.few = true
	return x.send()
}
