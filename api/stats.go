package api

import (
	"encoding/json"

	"lottery/api/deflate"
	"lottery/models"
	"lottery/models/catalog"
)

// stats is /v1/stats: how often sums, numbers, boxes and digits came, next to what chance alone would give.
func (h *Handler) stats() endpoint {
	return endpoint{
		parameters: []parameter{{name: "game", required: true}, {name: "from"}, {name: "to"}, {name: "tod"}},
		answer: func(x *call) error {
			g := x.bind.game(x.cat)
			from, to := x.bind.dates()
			tod := x.bind.tod()
			if done, err := x.finished(); done {
				return err
			}
			if from == models.FirstDate && to == models.LastDate {
				return x.sendText("stats "+g.ID+" "+tod.String(), func() any {
					var e statsEncoder
					return json.RawMessage(e.append(nil, g.Stats(from, to, tod)))
				})
			}
			stats := g.Stats(from, to, tod)
			defer stats.Release()
			return x.writeStats(stats)
		},
	}
}

// writeStats answers with statistics that were computed for this request.
func (x *call) writeStats(s *catalog.Stats) error {
	e := statsEncoder{marking: x.coding == gzipEncoder, marks: x.marks[:0]}
	x.body = append(e.append(x.body[:0], s), '\n')
	if !e.marking || len(x.body) <= minCompressed {
		return x.send()
	}
	x.marks = e.marks
	x.code = deflate.AppendMarked(x.code, x.body, x.marks)
	x.sendCoded(false)
	return nil
}
