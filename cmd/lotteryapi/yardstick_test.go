package main

import (
	"context"
	"encoding/json"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"

	"github.com/gin-gonic/gin"

	"lottery/configs"
)

// The yardsticks of the contract. Each is this test binary, restarted with yardstickEnv set:
// - bare = a Gin handler with the product's server settings that writes the product's bytes and headers;
// - sql = the same responses made with Gin, GORM and SQL on every request;
// - unmetered = the product without its quota.
const yardstickEnv = "YARDSTICK"

// yardstick runs the server that the environment asks for, if any.
func yardstick() (ran bool, err error) {
	dir, url := os.Getenv("YARDSTICK_DIR"), os.Getenv("YARDSTICK_DATABASE")
	switch os.Getenv(yardstickEnv) {
	case "bare":
		return true, serveYardstick(dir, func(e *gin.Engine, answers []captured) error {
			registerBare(e, answers)
			return nil
		})
	case "sql":
		return true, serveYardstick(dir, func(e *gin.Engine, answers []captured) error {
			db, err := openGORM(url)
			if err != nil {
				return err
			}
			s := &sqlAnswers{db: db, captured: map[string]captured{}}
			for _, a := range answers {
				s.captured[a.URI] = a
			}
			s.register(e)
			return nil
		})
	case "unmetered":
		return true, serveUnmetered(dir, url)
	default:
		return false, nil
	}
}

// captured is a response of the product.
type captured struct {
	URI    string
	Coding string // the Accept-Encoding that it answers
	Header http.Header
	Body   []byte
}

// serveYardstick serves the routes that register makes of the captured responses, on the product's server settings.
func serveYardstick(dir string, register func(e *gin.Engine, answers []captured) error) error {
	text, err := os.ReadFile(filepath.Join(dir, "answers"))
	if err != nil {
		return err
	}
	var answers []captured
	if err := json.Unmarshal(text, &answers); err != nil {
		return err
	}
	for _, a := range answers {
		a.Header.Del("Date") // net/http's own
	}
	gin.SetMode(gin.ReleaseMode)
	e := gin.New()
	if err := register(e, answers); err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	if err := tellAddress(dir, listener.Addr().String()); err != nil {
		return err
	}
	server := &http.Server{
		Handler: e, ReadHeaderTimeout: readHeaderTimeout, ReadTimeout: readTimeout, WriteTimeout: writeTimeout,
		IdleTimeout: idleTimeout, MaxHeaderBytes: serverHeaderBytes,
	}
	go paceGC(context.Background()) // the product's settings are the yardsticks' too
	return server.Serve(listener)
}

// registerBare writes captured answers, by target and coding.
func registerBare(e *gin.Engine, answers []captured) {
	type question struct{ uri, coding string }
	known := map[question]captured{}
	for _, a := range answers {
		known[question{a.URI, a.Coding}] = a
	}
	handler := func(c *gin.Context) {
		a, ok := known[question{c.Request.RequestURI, c.Request.Header.Get("Accept-Encoding")}]
		if !ok {
			c.Status(http.StatusNotFound)
			return
		}
		maps.Copy(c.Writer.Header(), a.Header)
		c.Status(http.StatusOK)
		_, _ = c.Writer.Write(a.Body)
	}
	for _, path := range []string{
		"/v1/games", "/v1/overview", "/v1/stats", "/v1/draws/recent", "/v1/draws/date/:date", "/v1/draws/search",
		"/v1/draws/by-sum", "/v1/draws/by-pair", "/v1/draws/history",
	} {
		e.GET(path, handler)
	}
}

// tellAddress tells the benchmark where the yardstick listens.
func tellAddress(dir, addr string) error {
	part := filepath.Join(dir, "addr.part")
	if err := os.WriteFile(part, []byte(addr), 0o600); err != nil {
		return err
	}
	return os.Rename(part, filepath.Join(dir, "addr"))
}

// serveUnmetered serves the product without its quota: it writes the same rate headers but counts nothing.
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

// rateHeaders adds rate headers with fixed values.
func rateHeaders(next http.Handler) http.Handler {
	header := http.Header{
		"Ratelimit-Policy": {`"daily";q=10000;w=86400`}, "Ratelimit": {`"daily";r=9999;t=43210`},
		"X-Ratelimit-Limit": {"10000"}, "X-Ratelimit-Remaining": {"9999"}, "X-Ratelimit-Reset": {"1795305600"},
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		maps.Copy(w.Header(), header)
		next.ServeHTTP(w, r)
	})
}
