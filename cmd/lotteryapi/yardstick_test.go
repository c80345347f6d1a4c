package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/gin-gonic/gin"
	"github.com/glebarez/sqlite"
	"gorm.io/driver/postgres"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"lottery/configs"
	"lottery/models"
)

// The yardsticks of the contract. Each is this test binary, started again with yardstickEnv set:
// bare = a Gin handler on the product's server settings that writes the product's bytes and headers;
// sql = the same answer made by Gin, GORM and SQL for every request.
const yardstickEnv = "YARDSTICK"

// yardstick runs the server that the environment asks for, if it does.
func yardstick() (ran bool, err error) {
	kind, dir := os.Getenv(yardstickEnv), os.Getenv("YARDSTICK_DIR")
	if kind == "" {
		return false, nil
	}
	if kind == "unmetered" {
		return true, serveUnmetered(dir, os.Getenv("YARDSTICK_DATABASE"))
	}
	body, err := os.ReadFile(filepath.Join(dir, "body"))
	if err != nil {
		return true, err
	}
	text, err := os.ReadFile(filepath.Join(dir, "header"))
	if err != nil {
		return true, err
	}
	var header http.Header
	if err := json.Unmarshal(text, &header); err != nil {
		return true, err
	}
	header.Del("Date") // net/http's own
	gin.SetMode(gin.ReleaseMode)
	e := gin.New()
	handler := bareHandler(header, body)
	if kind == "sql" {
		if handler, err = sqlHandler(header, os.Getenv("YARDSTICK_DATABASE")); err != nil {
			return true, err
		}
	}
	e.GET("/v1/draws/recent", handler)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return true, err
	}
	if err := tellAddress(dir, listener.Addr().String()); err != nil {
		return true, err
	}
	server := &http.Server{
		Handler: e, ReadHeaderTimeout: readHeaderTimeout, ReadTimeout: readTimeout, WriteTimeout: writeTimeout,
		IdleTimeout: idleTimeout, MaxHeaderBytes: serverHeaderBytes,
	}
	go paceGC(context.Background()) // the product's settings are the yardsticks' too
	return true, server.Serve(listener)
}

// tellAddress lets the benchmark know where the yardstick listens.
func tellAddress(dir, addr string) error {
	part := filepath.Join(dir, "addr.part")
	if err := os.WriteFile(part, []byte(addr), 0o600); err != nil {
		return err
	}
	return os.Rename(part, filepath.Join(dir, "addr"))
}

// serveUnmetered is the product without its quota: it writes the same rate headers, and counts nothing.
func serveUnmetered(dir, url string) error {
	cfg, err := configs.Load(configs.Source{Flags: map[string]string{"listen": "127.0.0.1:0", "database_url": url}})
	if err != nil {
		return err
	}
	return serve(context.Background(), cfg, serveOptions{
		migrate: true, unmetered: rateHeaders, log: slog.New(slog.DiscardHandler),
		started: func(addr string) { _ = tellAddress(dir, addr) },
	})
}

// rateHeaders writes rate headers that nobody counted.
func rateHeaders(next http.Handler) http.Handler {
	header := http.Header{
		"Ratelimit-Policy": {`"daily";q=10000;w=86400`}, "Ratelimit": {`"daily";r=9999;t=43210`},
		"X-Ratelimit-Limit": {"10000"}, "X-Ratelimit-Remaining": {"9999"}, "X-Ratelimit-Reset": {"1795305600"},
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		copyHeader(w.Header(), header)
		next.ServeHTTP(w, r)
	})
}

func copyHeader(to, from http.Header) {
	maps.Copy(to, from)
}

func bareHandler(header http.Header, body []byte) gin.HandlerFunc {
	return func(c *gin.Context) {
		copyHeader(c.Writer.Header(), header)
		c.Status(http.StatusOK)
		_, _ = c.Writer.Write(body)
	}
}

// sqlHandler is how the answer would be made without the index: the key, the game, the count and the draws are
// asked of the database for every request, records are made of structs and encoded by encoding/json.
func sqlHandler(header http.Header, url string) (gin.HandlerFunc, error) {
	dialector := postgres.Open(url)
	if path, ok := strings.CutPrefix(url, "sqlite:"); ok {
		dialector = sqlite.Open("file:" + path + "?_pragma=busy_timeout(5000)&_pragma=journal_mode(WAL)")
	}
	db, err := gorm.Open(dialector, &gorm.Config{Logger: logger.Discard, PrepareStmt: true})
	if err != nil {
		return nil, err
	}
	pool, err := db.DB()
	if err != nil {
		return nil, err
	}
	pool.SetMaxOpenConns(8)
	pool.SetMaxIdleConns(8)
	return func(c *gin.Context) {
		body, err := recentBySQL(db.WithContext(c.Request.Context()), c.Query("game"), c.GetHeader("X-API-Key"), header)
		if err != nil {
			c.String(http.StatusInternalServerError, "%v", err)
			return
		}
		copyHeader(c.Writer.Header(), header)
		c.Writer.Header().Set("Content-Length", strconv.Itoa(len(body)))
		c.Status(http.StatusOK)
		_, _ = c.Writer.Write(body)
	}, nil
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
}

func recentBySQL(db *gorm.DB, game, key string, header http.Header) ([]byte, error) {
	var k models.APIKey
	if err := db.Take(&k, "prefix = ?", key[:12]).Error; err != nil {
		return nil, err
	}
	var g models.Game
	if err := db.Take(&g, "id = ?", game).Error; err != nil {
		return nil, err
	}
	var total int64
	if err := db.Model(&models.Draw{}).Where("game_id = ? AND NOT void", game).Count(&total).Error; err != nil {
		return nil, err
	}
	var draws []models.Draw
	if err := db.Where("game_id = ? AND NOT void", game).Order("date DESC, tod DESC, sequence DESC").Limit(10).Find(&draws).Error; err != nil {
		return nil, err
	}
	list := struct {
		Draws  []sqlRecord `json:"draws"`
		Total  int64       `json:"total"`
		Game   string      `json:"game"`
		Cursor string      `json:"next_cursor,omitempty"`
	}{Total: total, Game: game, Cursor: cursorOf(header)}
	for _, d := range draws {
		list.Draws = append(list.Draws, sqlRecord{
			Date: d.Date, Tod: d.Tod, Numbers: strings.Split(d.Number, ""), NumberStr: d.Number, Normalized: models.Normalized(d.Number),
			DigitsSum: models.DigitsSum(d.Number), Game: g.ID, GameName: g.Name, GameType: g.Type(), Pairs2DP: models.Pairs2DP(d.Number),
		})
	}
	body, err := json.Marshal(list)
	if err != nil {
		return nil, fmt.Errorf("encode: %w", err)
	}
	return append(body, '\n'), nil
}

// cursorOf takes the cursor from the product's Link header: making it is not what is measured.
func cursorOf(header http.Header) string {
	_, rest, _ := strings.Cut(header.Get("Link"), "cursor=")
	cursor, _, _ := strings.Cut(rest, ">")
	return cursor
}
