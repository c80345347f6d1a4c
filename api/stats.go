package api

import (
	"encoding/json"

	"lottery/models"
)

// stats is /v1/stats: how often sums, numbers, boxes and digits came, beside what chance alone gives.
func (h *Handler) stats() endpoint {
	return endpoint{
		parameters: []parameter{{"game", ""}, {"from", ""}, {"to", ""}, {"tod", ""}},
		answer: func(x *call) error {
			g := x.bind.game(x.cat, true)
			from, to := x.bind.dates()
			tod := x.bind.tod()
			if done, err := x.ready(); done {
				return err
			}
			if from == models.FirstDate && to == models.LastDate {
				return x.remembered("stats "+g.ID+" "+tod.String(), func() any {
					return json.RawMessage(appendStats(nil, g.Stats(from, to, tod)))
				})
			}
			stats := g.Stats(from, to, tod)
			defer stats.Release()
			x.body = append(appendStats(x.body[:0], stats), '\n')
			return x.send()
		},
	}
}
