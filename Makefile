# Tailrace needs Go, make and git. Only `race`, and what includes it, also
# needs a C compiler: the race detector is linked with one.
.DEFAULT_GOAL := help
.PHONY: help build run test check format vet static lint race examples fuzz stress sim bench profile

GO       ?= go
FUZZTIME ?= 30s
SEEDS    ?= 200
OPS      ?= 100000000
SUITE    ?= pipeline
# Nothing here needs C, save the race detector; one setting for all shares the build cache.
export CGO_ENABLED = 0

TOOL     := $(GO) tool -modfile=tools/go.mod

# Packages where goroutines meet: the race detector runs on these.
CONCURRENT := ./buffers/... ./exec/... ./state/... ./internal/table/... ./internal/env/... ./internal/cores/...

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  %-10s%s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: ## compile everything; the commands go to bin/
	$(GO) build ./...
	$(GO) build -o bin/ ./cmd/...

run: ## run the flights job on the data in the repository
	$(GO) run ./examples/flights

test: ## run all tests
	$(GO) test ./...

check: format vet static lint test race examples ## all that a commit must pass, in under five minutes on two cores

format:
	@wrong=$$(gofmt -l .); test -z "$$wrong" || { echo "run gofmt -w on:"; echo "$$wrong"; exit 1; }

vet:
	$(GO) vet ./...

static:
	$(TOOL) staticcheck ./...

lint: ## check layers, sizes, comments, claims and links
	$(GO) test -count=1 ./internal/lint

race: ## run the packages where goroutines meet under the race detector
	@cc=$$($(GO) env CC); command -v $${cc%% *} >/dev/null || \
		{ echo "make race needs a C compiler and finds no $$cc: install gcc, or name one in CC"; exit 1; }
	CGO_ENABLED=1 $(GO) test -race $(CONCURRENT)

examples: ## build and test the examples
	$(GO) vet ./examples/...
	$(GO) test ./examples/...

fuzz: ## run each fuzz target for FUZZTIME (30s)
	@grep -rEo --include='*_test.go' '^func Fuzz[A-Za-z0-9_]+' . | sed 's/:func / /' | sort | while read -r file target; do \
		echo "fuzz $$target of $$(dirname $$file) for $(FUZZTIME)"; \
		$(GO) test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 10x $$(dirname $$file) </dev/null || exit 1; \
	done

stress: ## push OPS (10^8) elements through a ring under the race detector
	CGO_ENABLED=1 $(GO) test ./buffers -run Stress -race -count=1 -timeout 60m -args -ops=$(OPS)

sim: ## run SEEDS (200) seeds of the simulation
	$(GO) test ./internal/sim -count=1 -timeout 60m -v -args -sim.seeds=$(SEEDS)

bench: ## measure everything against hand-written twins
	$(GO) run ./cmd/bench all

profile: ## profile one SUITE of the benchmark (pipeline) into out/
	@mkdir -p bin out
	$(GO) build -o bin/bench ./cmd/bench
	bin/bench -rounds 3 -cpuprofile out/$(SUITE)-cpu.pprof -memprofile out/$(SUITE)-mem.pprof $(SUITE)
	$(GO) tool pprof -top -nodecount 30 bin/bench out/$(SUITE)-cpu.pprof
