package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/google/pprof/profile"

	"lottery/models"
	"lottery/models/store/storetest"
)

// BenchmarkProfile writes the profile with which lotteryapi is compiled (default.pgo), from half a minute of typical
// requests. `make profile` runs it; it measures nothing.
func BenchmarkProfile(b *testing.B) {
	out := os.Getenv("LOTTERY_PROFILE")
	if out == "" {
		b.Skip("make profile")
	}
	needWrk(b)
	url := storetest.EmptyURL(b)
	fill(b, url, tenGames(300_000)...)
	p := startOps(b, url)
	mix := customers(fillAccounts(b, 1000, url))
	profiled := make(chan []byte, 1)
	go func() { profiled <- p.pprof(b, "profile?seconds=30") }()
	for _, coding := range []string{"", "", "gzip"} {
		wrk(b, traffic{name: "product", base: p.base, mix: mix, coding: coding, seconds: 11})
	}
	cpu, err := profile.ParseData(<-profiled)
	if err != nil {
		b.Fatal(err)
	}
	if err := writeProfile(out, cpu); err != nil {
		b.Fatal(err)
	}
}

// customers returns requests of many accounts: mostly small lists, and some of everything else.
func customers(keys []string) []string {
	rng := rand.New(rand.NewPCG(9, 9))
	paths := []func() string{
		func() string { return fmt.Sprintf("recent?game=%s", anyGame(rng)) },
		func() string { return fmt.Sprintf("recent?game=%s&count=%d", anyGame(rng), 1+rng.IntN(20)) },
		func() string { return fmt.Sprintf("date/%s", anyDate(rng, benchLastDay-3000)) },
		func() string { return fmt.Sprintf("search?number=%03d&limit=10", rng.IntN(1000)) },
		func() string { return fmt.Sprintf("search?number=%04d&limit=100", rng.IntN(10_000)) },
		func() string { return fmt.Sprintf("by-sum?game=%s&sum=%d&limit=10", anyGame(rng), 7+rng.IntN(14)) },
		func() string { return fmt.Sprintf("by-pair?game=%s&pair=%02d&limit=10", anyGame(rng), rng.IntN(100)) },
		func() string { return fmt.Sprintf("history?game=%s&year=%d", anyGame(rng), anyYear(rng)) },
	}
	out := make([]string, 20_000)
	for i := range out {
		out[i] = keys[i%len(keys)] + " /v1/draws/" + paths[min(rng.IntN(len(paths)), rng.IntN(len(paths)))]()
	}
	return out
}

func anyYear(rng *rand.Rand) int {
	year, _, _ := (benchLastDay - models.Date(rng.IntN(3000))).Civil()
	return year
}

// writeProfile writes the parts of a profile that the compiler reads, and nothing about the machine on which it was
// made.
func writeProfile(path string, p *profile.Profile) error {
	for _, m := range p.Mapping {
		m.File, m.BuildID = "", ""
	}
	for _, f := range p.Function {
		f.Filename = ""
	}
	p.TimeNanos, p.Comments = 0, nil
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(p.Write(file), file.Close())
}
