# What one does here. `make` alone lists it.

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

# RACE=-race make test: with the race detector (needs gcc).
RACE ?=
TESTFLAGS ?=

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: run
run: ## serve made-up draws on http://localhost:8080: no network, no configuration
	@go build -o bin/lotteryapi ./cmd/lotteryapi && exec bin/lotteryapi demo

.PHONY: build
build: ## build bin/lotteryapi and bin/lotteryadmin
	go build -trimpath -o bin/ ./cmd/...

.PHONY: test
test: ## run every test; those that lack PostgreSQL or Redis are listed as skipped at the end
	@$(if $(RACE),CGO_ENABLED=1) $(GOTESTSUM) --format pkgname -- $(RACE) -timeout 20m $(TESTFLAGS) ./...

.PHONY: screenshots
screenshots: ## take pictures of every page into screenshots/: light, dark, 360 and 1440 px (needs chromium)
	@LOTTERY_SCREENSHOTS=$(abspath screenshots) go test ./cmd/lotteryapi -count=1 -run TestScreenshots

.PHONY: fuzz
fuzz: ## fuzz each parser and the query binder for 20 seconds
	@for target in $$(grep -rlE '^func Fuzz' --include='*_test.go' . | xargs -n1 dirname | sort -u); do \
	  for name in $$(grep -hoE '^func Fuzz[A-Za-z]+' $$target/*_test.go | cut -d' ' -f2); do \
	    go test $$target -run '^$$' -fuzz "^$$name$$" -fuzztime 20s || exit 1; \
	  done; \
	done

.PHONY: bench
bench: ## measure against the yardsticks of docs/performance.md (needs wrk, PostgreSQL and Redis; ten minutes)
	@LOTTERY_BENCH_LARGE=1 go test ./models/catalog -run '^$$' -bench Growth -benchtime 1x
	@go test ./cmd/lotteryapi -run '^$$' -bench . -benchtime 1x -timeout 30m | grep -v '^PASS'

.PHONY: check
check: format vet lint tidy ## format, vet, lint, go.mod tidy (the OpenAPI document is compared with the routes by a test)
	@go test -count=1 -run 'Layers|Routes' ./cmd/... ./api/...

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
