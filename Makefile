# What you can do here. `make` alone lists it.

SHELL := /bin/sh
.DEFAULT_GOAL := help

# No C compiler is needed, and none is used: the binaries are static. The race detector alone wants one.
export CGO_ENABLED ?= 0

# Tools, pinned. They are compiled on first use and kept in Go's cache.
GOTESTSUM     := go run gotest.tools/gotestsum@v1.13.0
GOLANGCI_LINT := go run github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0

# The folder of the lotteries' published files, for the tests that want real draws. Tests run in their package's
# folder, so it is made absolute.
ifdef LOTTERY_REAL_DRAWS
export LOTTERY_REAL_DRAWS := $(abspath $(LOTTERY_REAL_DRAWS))
endif

# lotteryapi is compiled for what customers ask (cmd/lotteryapi/default.pgo), which means all of its packages once
# more: for tests and checks that is not worth the minutes. The programs that tests start are compiled as always.
test vet lint check fuzz contract chaos screenshots: export GOFLAGS := $(strip $(GOFLAGS) -pgo=off)

# RACE=-race make test: with the race detector (needs gcc). A program that has it waits for a second when it ends, in case
# somebody is still telling of a race, and tests start hundreds. SQLite, translated from C, is not looked at: it would be
# half of all the work.
RACE ?=
RACING := CGO_ENABLED=1 GORACE="atexit_sleep_ms=50 $(GORACE)"
RACEFLAGS := -gcflags=modernc.org/...=-race=false
TESTFLAGS ?=

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: run
run: ## serve made-up draws on http://localhost:8080: no network, no configuration
	@[ -e bin/lotteryapi ] || echo "compiling; from nothing it takes a minute or two"
	@go build -o bin/lotteryapi ./cmd/lotteryapi && exec bin/lotteryapi demo

.PHONY: build
build: ## build bin/lotteryapi and bin/lotteryadmin
	go build -trimpath -o bin/ ./cmd/...

.PHONY: test
test: ## run every test; those that lack PostgreSQL or Redis are listed as skipped at the end
	@$(if $(RACE),$(RACING)) $(GOTESTSUM) --format pkgname -- $(RACE) $(if $(RACE),$(RACEFLAGS)) -timeout 40m $(TESTFLAGS) ./...

.PHONY: screenshots
screenshots: ## take pictures of every page into screenshots/: light, dark, 360 and 1440 px (needs chromium)
	@LOTTERY_SCREENSHOTS=$(abspath screenshots) go test ./cmd/lotteryapi -count=1 -run TestScreenshots

# What fuzz, chaos and contract do by default; make fuzz MINUTES=60, make contract REQUESTS=1000000 SEED=2.
MINUTES  ?= 5
REQUESTS ?= 100000
SEED     ?= 1

.PHONY: fuzz
fuzz: ## fuzz parsers, binder, cursors, keys, webhook, configuration, gzip: MINUTES=5 in all; fuzz-list names the targets
	@.ci/fuzz $(MINUTES)

.PHONY: fuzz-list
fuzz-list: ## list the fuzz targets: package and name
	@grep -rnoE '^func Fuzz[A-Za-z0-9]+' --include='*_test.go' . | sed -E 's,^(.*)/[^/]*:[0-9]+:func (.*)$$,\1 \2,' | sort

.PHONY: contract
contract: ## send REQUESTS=100000 requests made from openapi.yaml, and judge the answers by it
	@LOTTERY_REQUESTS=$(REQUESTS) LOTTERY_SEED=$(SEED) go test ./api -count=1 -v -timeout 2h -run '^TestGeneratedRequests$$'

.PHONY: chaos
chaos: ## kill, stop and change everything at random under load, MINUTES=5 in all; the report stands in docs/reliability.md
	@LOTTERY_CHAOS=$$(( $(MINUTES) * 30 ))s go test ./cmd/lotteryapi -count=1 -run TestChaos -timeout 30m -v | grep -v '^=== '

.PHONY: release
release: ## build dist/: an archive for each of linux and darwin, amd64 and arm64, and SHA256SUMS; VERSION=v1.2.3
	@.ci/release

.PHONY: release-check
release-check: ## build a release twice, from two folders, and see that it is the same (PLATFORMS=linux/amd64)
	@.ci/release-check

.PHONY: bench
# Programs and measurements are compiled by the profile alike, so that no package is compiled twice; `make check` vets them.
bench: export CGO_ENABLED := 0
bench: export GOFLAGS := $(strip $(GOFLAGS) -pgo=$(CURDIR)/cmd/lotteryapi/default.pgo)
bench: export LOTTERY_GOFLAGS = $(GOFLAGS)
bench: ## measure against the yardsticks of docs/performance.md (needs wrk, PostgreSQL and Redis; 8 to 10 minutes once it is compiled)
	@LOTTERY_BENCH_LARGE=1 go test -vet=off ./models/catalog -run '^$$' -bench Growth -benchtime 1x
	@go test -vet=off ./cmd/lotteryapi -run '^$$' -bench . -benchtime 1x -timeout 30m | grep --line-buffered -v '^PASS'

.PHONY: profile
profile: ## measure anew what lotteryapi is compiled for (cmd/lotteryapi/default.pgo; needs wrk, a minute)
	@LOTTERY_PROFILE=$(CURDIR)/cmd/lotteryapi/default.pgo go test ./cmd/lotteryapi -run '^$$' -bench Profile -benchtime 1x

.PHONY: check
check: format vet lint tidy ## format, vet, lint, go.mod tidy, layers, routes, allocations (the OpenAPI document is compared with the routes by a test)
	@go test -count=1 -run 'Layers|Routes' ./cmd ./api
	@# Under the race detector nobody can count these.
	@go test -count=1 -run 'TestAllocations|TestQueriesDoNotAllocate|TestMemoryPerDraw' ./api ./models/catalog

.PHONY: format
format:
	@unformatted=$$(gofmt -l $$(git ls-files '*.go')); \
	if [ -n "$$unformatted" ]; then echo "not formatted (gofmt -w): $$unformatted"; exit 1; fi

.PHONY: vet
vet:
	@go vet ./...

.PHONY: lint
lint:
	@$(GOLANGCI_LINT) run ./...

.PHONY: tidy
tidy:
	@go mod tidy -diff
