package main

import (
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"
	"gorm.io/gorm"

	"lottery/models"
)

// register adds the per-request answers of every path.
func (s *sqlAnswers) register(e *gin.Engine) {
	e.GET("/v1/draws/recent", s.serve(func(c *gin.Context, db *gorm.DB, h http.Header) (*sqlList, error) {
		return list(c, db, h, 10, "bench_draws", "game_id = ?", c.Query("game"))
	}))
	e.GET("/v1/draws/date/:date", s.serve(func(c *gin.Context, db *gorm.DB, h http.Header) (*sqlList, error) {
		return list(c, db, h, 0, "bench_draws", "date = ?", c.Param("date"))
	}))
	e.GET("/v1/draws/history", s.serve(func(c *gin.Context, db *gorm.DB, h http.Header) (*sqlList, error) {
		return list(c, db, h, 0, "bench_draws", "game_id = ? AND date BETWEEN ? AND ?", c.Query("game"), c.Query("year")+"-01-01", c.Query("year")+"-12-31")
	}))
	e.GET("/v1/draws/by-sum", s.serve(func(c *gin.Context, db *gorm.DB, h http.Header) (*sqlList, error) {
		return list(c, db, h, 100, "bench_draws", "game_id = ? AND digits_sum = CAST(? AS INTEGER)", c.Query("game"), c.Query("sum"))
	}))
	e.GET("/v1/draws/by-pair", s.serve(func(c *gin.Context, db *gorm.DB, h http.Header) (*sqlList, error) {
		return list(c, db, h, 100, "bench_pairs", "game_id = ? AND pair = ?", c.Query("game"), c.Query("pair"))
	}))
	e.GET("/v1/draws/search", s.serve(searchSQL))
	e.GET("/v1/games", s.serve(captures(
		"SELECT id, name, digits, tods, jurisdiction, draw_days FROM games ORDER BY id",
		"SELECT game_id, tod, MAX(date) FROM bench_draws GROUP BY game_id, tod")))
	e.GET("/v1/overview", s.serve(captures(
		"SELECT id, name, digits, tods, jurisdiction, draw_days FROM games ORDER BY id",
		"SELECT game_id, COUNT(*), MIN(date), MAX(date), COUNT(DISTINCT date) FROM bench_draws GROUP BY game_id",
		"SELECT DISTINCT game_id, tod FROM bench_draws")))
	const picked = " FROM bench_draws WHERE game_id = ? AND date BETWEEN ? AND ? GROUP BY "
	e.GET("/v1/stats", s.serve(captures(
		"SELECT digits_sum, COUNT(*)"+picked+"digits_sum ORDER BY 2 DESC LIMIT 10",
		"SELECT normalized, COUNT(*), MAX(date)"+picked+"normalized ORDER BY 2 DESC LIMIT 10",
		"SELECT number, COUNT(*), MAX(date)"+picked+"number"))) // the digits follow from these
}

func searchSQL(c *gin.Context, db *gorm.DB, h http.Header) (*sqlList, error) {
	number := c.Query("number")
	box := models.Normalized(number)
	out, err := list(c, db, h, 100, "bench_draws", "normalized = ?", box)
	if err != nil {
		return nil, err
	}
	out.Number, out.Normalized, out.ExactTotal, out.BoxTotal = number, box, new(int64), &out.Total
	if err := db.Table("bench_draws").Where("number = ?", number).Count(out.ExactTotal).Error; err != nil {
		return nil, err
	}
	for i := range out.Draws {
		out.Draws[i].Match = "box"
		if out.Draws[i].NumberStr == number {
			out.Draws[i].Match = "exact"
		}
	}
	return out, nil
}

// captures runs the queries that a response needs, reads their rows, and writes the captured response. It makes nothing
// of the rows, in this yardstick's favor.
func captures(queries ...string) func(*gin.Context, *gorm.DB, http.Header) (*sqlList, error) {
	return func(c *gin.Context, db *gorm.DB, _ http.Header) (*sqlList, error) {
		for _, query := range queries {
			var asked []any
			for range strings.Count(query, "?") / 3 {
				asked = append(asked, c.Query("game"), c.Query("from"), c.Query("to"))
			}
			var rows []map[string]any
			if err := db.Raw(query, asked...).Scan(&rows).Error; err != nil {
				return nil, err
			}
		}
		return nil, nil
	}
}
