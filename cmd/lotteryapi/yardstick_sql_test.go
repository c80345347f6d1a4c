package main

import (
	"encoding/json"
	"maps"
	"net/http"
	"strconv"
	"strings"

	"github.com/gin-gonic/gin"
	"gorm.io/gorm"

	"lottery/models"
	"lottery/models/secret"
)

// fillSQL creates the per-request yardstick's own tables, with indexes on the columns that it queries.
func fillSQL(db *gorm.DB) error {
	for _, statement := range []string{
		"CREATE TABLE bench_numbers (number TEXT PRIMARY KEY, normalized TEXT, digits_sum INTEGER)",
		"CREATE TABLE bench_boxes (normalized TEXT, pair TEXT, PRIMARY KEY (normalized, pair))",
	} {
		if err := db.Exec(statement).Error; err != nil {
			return err
		}
	}
	var numbers []string
	if err := db.Raw("SELECT DISTINCT number FROM draws").Scan(&numbers).Error; err != nil {
		return err
	}
	type row = map[string]any
	var derived, pairs []row
	seen := map[string]bool{}
	for _, n := range numbers {
		box := models.Normalized(n)
		derived = append(derived, row{"number": n, "normalized": box, "digits_sum": models.DigitsSum(n)})
		for _, p := range models.Pairs2DP(n) {
			if !seen[box] {
				pairs = append(pairs, row{"normalized": box, "pair": p})
			}
		}
		seen[box] = true
	}
	if err := db.Table("bench_numbers").CreateInBatches(derived, 1000).Error; err != nil {
		return err
	}
	if err := db.Table("bench_boxes").CreateInBatches(pairs, 1000).Error; err != nil {
		return err
	}
	const columns = "d.game_id, d.date, d.tod, d.sequence, d.number, n.normalized, n.digits_sum"
	for _, statement := range []string{
		"CREATE TABLE bench_draws AS SELECT " + columns + " FROM draws d JOIN bench_numbers n ON n.number = d.number WHERE NOT d.void",
		"CREATE INDEX bench_draws_game ON bench_draws (game_id, date, tod, sequence)",
		"CREATE INDEX bench_draws_date ON bench_draws (date)",
		"CREATE INDEX bench_draws_tod ON bench_draws (game_id, tod, date)",
		"CREATE INDEX bench_draws_number ON bench_draws (number)",
		"CREATE INDEX bench_draws_box ON bench_draws (normalized, date, tod, game_id, sequence)",
		"CREATE INDEX bench_draws_sum ON bench_draws (game_id, digits_sum, date, tod, sequence)",
		"CREATE TABLE bench_pairs AS SELECT p.pair, " + strings.ReplaceAll(columns, "n.", "d.") + " FROM bench_draws d JOIN bench_boxes p ON p.normalized = d.normalized",
		"CREATE INDEX bench_pairs_pair ON bench_pairs (game_id, pair, date, tod, sequence)",
		"ANALYZE",
	} {
		if err := db.Exec(statement).Error; err != nil {
			return err
		}
	}
	return nil
}

// sqlAnswers makes responses as one would without the index: for every request it queries the database for the key, the
// account, the games, the count and the draws, and encodes structs with encoding/json.
type sqlAnswers struct {
	db       *gorm.DB
	captured map[string]captured // by request; for headers, and for bodies that nothing else gives (see serve)
}

// serve responds with what ask returns or, if that is nil, with the captured body.
func (s *sqlAnswers) serve(ask func(c *gin.Context, db *gorm.DB, h http.Header) (*sqlList, error)) gin.HandlerFunc {
	return func(c *gin.Context) {
		db, like := s.db.WithContext(c.Request.Context()), s.captured[c.Request.RequestURI]
		err := authenticate(db, c.GetHeader("X-API-Key"))
		var list *sqlList
		if err == nil {
			list, err = ask(c, db, like.Header)
		}
		body := like.Body
		if err == nil && list != nil {
			body, err = json.Marshal(list)
			body = append(body, '\n')
		}
		if err != nil {
			c.String(http.StatusInternalServerError, "%v", err)
			return
		}
		maps.Copy(c.Writer.Header(), like.Header)
		c.Writer.Header().Set("Content-Length", strconv.Itoa(len(body)))
		c.Status(http.StatusOK)
		_, _ = c.Writer.Write(body)
	}
}

func authenticate(db *gorm.DB, key string) error {
	hash := secret.Hash(key)
	var k models.APIKey
	if err := db.Take(&k, "hash = ?", hash[:]).Error; err != nil {
		return err
	}
	var a models.Account
	return db.Take(&a, "id = ?", k.AccountID).Error
}

// sqlDraw is a row of bench_draws.
type sqlDraw struct {
	GameID     string
	Date       models.Date
	Tod        models.Tod
	Sequence   int
	Number     string
	Normalized string
	DigitsSum  int
}

type sqlRecord struct {
	Date       models.Date `json:"date"`
	Tod        models.Tod  `json:"tod"`
	Numbers    []string    `json:"numbers"`
	NumberStr  string      `json:"number_str"`
	Normalized string      `json:"normalized"`
	DigitsSum  int         `json:"digits_sum"`
	Game       string      `json:"game"`
	GameName   string      `json:"game_name"`
	GameType   string      `json:"game_type"`
	Pairs2DP   []string    `json:"pairs_2dp"`
	Match      string      `json:"match,omitempty"`
}

type sqlList struct {
	Draws      []sqlRecord `json:"draws"`
	Total      int64       `json:"total"`
	Game       string      `json:"game"`
	Cursor     string      `json:"next_cursor,omitempty"`
	Number     string      `json:"number,omitempty"`
	Normalized string      `json:"normalized,omitempty"`
	ExactTotal *int64      `json:"exact_total,omitempty"`
	BoxTotal   *int64      `json:"box_total,omitempty"`
}

// list returns the newest draws of table that satisfy where.
func list(c *gin.Context, db *gorm.DB, h http.Header, fallback int, table, where string, args ...any) (*sqlList, error) {
	var games []models.Game
	if err := db.Find(&games).Error; err != nil {
		return nil, err
	}
	named := map[string]models.Game{}
	for _, g := range games {
		named[g.ID] = g
	}
	out := &sqlList{Game: c.DefaultQuery("game", "all"), Cursor: cursorOf(h)}
	if err := db.Table(table).Where(where, args...).Count(&out.Total).Error; err != nil {
		return nil, err
	}
	limit := fallback
	for _, name := range []string{"count", "limit"} {
		if n, err := strconv.Atoi(c.Query(name)); err == nil {
			limit = n
		}
	}
	var rows []sqlDraw
	q := db.Table(table).Where(where, args...).Order("date DESC, tod DESC, game_id, sequence DESC")
	if limit > 0 {
		q = q.Limit(limit)
	}
	if err := q.Find(&rows).Error; err != nil {
		return nil, err
	}
	out.Draws = make([]sqlRecord, len(rows))
	for i, d := range rows {
		g := named[d.GameID]
		out.Draws[i] = sqlRecord{
			Date: d.Date, Tod: d.Tod, Numbers: strings.Split(d.Number, ""), NumberStr: d.Number, Normalized: d.Normalized,
			DigitsSum: d.DigitsSum, Game: g.ID, GameName: g.Name, GameType: g.Type(), Pairs2DP: models.Pairs2DP(d.Number),
		}
	}
	return out, nil
}

// cursorOf takes the cursor from the product's Link header: making it is not part of the measurement.
func cursorOf(header http.Header) string {
	_, rest, _ := strings.Cut(header.Get("Link"), "cursor=")
	cursor, _, _ := strings.Cut(rest, ">")
	return cursor
}
