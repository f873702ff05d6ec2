# What to type. `make help` lists it.

CARGO ?= cargo
SECONDS ?= 60
ARCHITECTURES ?= x86_64
TARGET_DIR = $(or $(CARGO_TARGET_DIR),target)
SIXMARK = $(TARGET_DIR)/release/sixmark
SCRIPTS = .ci/run .ci/weekly action/comment action/common action/install action/measure action/services \
	action/summary benches/action-verdicts packaging/install.sh packaging/arch/PKGBUILD scripts/check-same-bytes scripts/fuzz scripts/install-axe scripts/install-cargo-tools \
	scripts/install-debian scripts/install-fio scripts/install-nats-server scripts/install-oha \
	scripts/build-apache scripts/guest-kernels scripts/install-test-packages scripts/keep-documents scripts/package scripts/package-check scripts/release \
	scripts/reproductions scripts/run-tests scripts/static-binary

export CARGO

.DEFAULT_GOAL := help
.PHONY: help demo build test test-pure lint words shellcheck advisories fuzz bench servers emulator instructions calibrate calibrate-search fleet-faults \
	verdicts traffic watch-bench fleet-bench accuracy guest-kernels reproductions dist dist-check same-bytes packages third-party action-verdicts why

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-12s %s\n", $$1, $$2 }' Makefile

demo: ## build sixmark, start a server on ::1 and 127.0.0.1, compare them (needs only Rust)
	$(CARGO) build --profile demo -p sixmark
	$(TARGET_DIR)/demo/sixmark demo

build: ## the release binary
	$(CARGO) build --release -p sixmark

# Tests that need nothing but Rust, and those that need more (CONTRIBUTING.md), whose targets say `test = false`.
PURE_TESTS = "--doc" "--lib --tests -- --test-threads $(WAITING_TESTS)"
NEEDY_TESTS = "--test browsers --test servers --test distribution --test release" "--test packets --test lab -- --test-threads $(WAITING_TESTS)"
# How many tests run at the same time where most of them wait for runs, links and captures: they use part of one core.
WAITING_TESTS ?= 4

test: ## all tests, after installing the servers that some of them talk to; what fails runs once more, alone
	scripts/install-test-packages test lab distribution
	scripts/install-nats-server
	scripts/install-axe
	scripts/install-debian
	scripts/package --quick $(TARGET_DIR)/dist-test
	$(CARGO) fetch --locked
	$(CARGO) test --workspace --lib --test '*' --no-run
	@scripts/run-tests $(PURE_TESTS) $(NEEDY_TESTS)

test-pure: ## the tests that need nothing but Rust
	@scripts/run-tests $(PURE_TESTS)

dist: ## static binaries, the Debian package, the container image, into target/dist; ARCHITECTURES="x86_64 aarch64"
	scripts/install-test-packages distribution $(filter aarch64,$(ARCHITECTURES))
	rm -rf $(TARGET_DIR)/dist
	set -e; for architecture in $(ARCHITECTURES); do scripts/package --architecture $$architecture $(TARGET_DIR)/dist; done

same-bytes: ## two builds of the static binary in two folders: the same bytes? A quarter of an hour
	scripts/install-test-packages distribution
	scripts/check-same-bytes

dist-check: ## the tests of what `make dist` has left
	scripts/install-debian
	SIXMARK_DIST=$(abspath $(TARGET_DIR))/dist $(CARGO) test -p sixmark --test distribution

lint: shellcheck ## formatting, wording, clippy, documentation, licences, shell scripts
	$(CARGO) fmt --all --check
	$(MAKE) --no-print-directory words
	$(CARGO) clippy --workspace --all-targets -- -D warnings
	$(CARGO) clippy --workspace --test '*' -- -D warnings
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --no-deps
	scripts/install-cargo-tools cargo-deny
	$(CARGO) deny check licenses bans sources

words: ## refuses wording that scripts/words names
	scripts/strings --check

advisories: ## known weaknesses of the dependencies, from the network; .ci/weekly runs it and blocks nothing
	scripts/install-cargo-tools cargo-deny
	$(CARGO) deny check advisories

packages: ## the package of each crate, built alone as whoever depends on it would; several minutes
	$(CARGO) package --workspace --exclude sixmark-testkit --allow-dirty

third-party: build ## licences of what is linked in and an SBOM, into target/third-party, checked against the binary
	mkdir -p $(TARGET_DIR)/third-party
	scripts/third-party licences >$(TARGET_DIR)/third-party/THIRD-PARTY-LICENSES
	scripts/third-party sbom >$(TARGET_DIR)/third-party/sixmark.cdx.json
	scripts/third-party check $(SIXMARK) $(TARGET_DIR)/third-party/THIRD-PARTY-LICENSES $(TARGET_DIR)/third-party/sixmark.cdx.json

# A machine that is not Debian may lint the Rust without it; .ci/run installs it first.
shellcheck:
	@if command -v shellcheck >/dev/null; then shellcheck $(SCRIPTS); \
	else echo "shellcheck left out: scripts/install-test-packages lint installs it"; fi

fuzz: ## every fuzz target, SECONDS (60) in all, with a nightly toolchain
	scripts/install-cargo-tools cargo-fuzz
	scripts/fuzz $(SECONDS)

bench: build ## beside wrk, ab, h2load, oha, curl and wget; BENCH="--only h2-tls --rounds 1"; H2LOAD=path for one with HTTP/3
	scripts/install-test-packages bench
	scripts/install-oha $(TARGET_DIR)/peers
	H2LOAD="$(H2LOAD)" benches/peers/run --sixmark $(SIXMARK) $(BENCH)

servers: build ## counts held against those of some 20 real servers; SERVERS="--only nginx,caddy -n 200"
	scripts/install-test-packages servers
	benches/servers/run --sixmark $(SIXMARK) $(SERVERS)

emulator: ## the lab's link emulator as root: lateness at 100 Mbit/s, Gbit/s on one core; EMULATOR=10 seconds each
	$(CARGO) build --release -p sixmark-lab --example emulator
	PIN=1 $(TARGET_DIR)/release/examples/emulator $(EMULATOR)

verdicts: build ## how often is it wrong, in each mode? Hours, in parts: VERDICTS="--seconds 600 --markdown docs/statistics.md"
	benches/verdicts/run --sixmark $(SIXMARK) $(VERDICTS)

why: build ## is the cause that compare names the one that the lab made? As root; nginx; WHY="--count 2 --only delay"
	benches/why/run --sixmark $(SIXMARK) $(WHY)

action-verdicts: build ## how often is the comment of the CI action wrong? Base against itself; ACTION_VERDICTS="100 INPUT_BLOCK=1s"
	benches/action-verdicts $(SIXMARK) $(ACTION_VERDICTS)

traffic: build ## is the rate of traffic the one asked for? 1 to 1000 Mbit/s, 100 flows, one core
	benches/traffic --sixmark $(SIXMARK) $(TRAFFIC)

watch-bench: build ## watch beside tshark on 1 GB, and live; as root; WATCH="--bytes 200M --file-only"
	scripts/install-test-packages watch
	$(CARGO) build --release -p sixmark-wire --example make-capture
	$(CARGO) build --release -p sixmark-watch --example replay
	benches/watch --sixmark $(SIXMARK) --examples $(TARGET_DIR)/release/examples $(WATCH)

fleet-bench: ## 1,000 simulated agents at a NATS server: records acknowledged, collector, memory; FLEET="100 60"
	scripts/install-nats-server
	$(CARGO) build --release -p sixmark-fleet --example thousand-agents
	$(TARGET_DIR)/release/examples/thousand-agents $(TARGET_DIR)/peers/bin $(FLEET)

fleet-faults: build ## what a fleet counts when something breaks, against a web server's log; as root; FAULTS="--trials 20 --seed 1"
	scripts/install-test-packages test
	scripts/install-nats-server $(TARGET_DIR)/peers
	benches/fleet-faults --sixmark $(SIXMARK) --nats-server $(TARGET_DIR)/peers/bin/nats-server $(FAULTS)

accuracy: build ## clock against packets (run --truth), into docs/accuracy.md; as root
	scripts/accuracy --sixmark $(SIXMARK) docs/accuracy.md $(ACCURACY)

calibrate: ## how often verdicts are wrong, into docs/statistics.md; CALIBRATE="4000 whole" for a part
	$(CARGO) run --release -p sixmark-compare --example calibrate -- docs/statistics.md $(CALIBRATE)

calibrate-search: ## how often brackets of --find-max miss a simulated server's capacity, into docs/statistics.md; CALIBRATE=50 for fewer searches
	$(CARGO) run --release -p sixmark-run --example calibrate_search -- docs/statistics.md $(CALIBRATE)

instructions: ## instructions a request, one thread and server against two, under valgrind
	scripts/install-test-packages instructions
	$(CARGO) build --profile profiling -p sixmark
	benches/instructions --sixmark $(TARGET_DIR)/profiling/sixmark $(INSTRUCTIONS)

guest-kernels: build ## doctor, demo, a lab and NVMe/TCP in Debian's kernels 5.10 to the newest, under emulation; many minutes. KERNELS="6.1 newest" names some
	scripts/install-test-packages guest lab
	scripts/guest-kernels $(SIXMARK) $(TARGET_DIR)/guest-kernels $(KERNELS)

reproductions: build ## the six papers' studies, those of loads until their claims are decided, at most four hours; writes docs/reproductions.md. REPRODUCTIONS=FOLDER keeps their documents, STUDIES="anma dell:--quick" names some
	scripts/install-test-packages test lab
	scripts/install-fio $(TARGET_DIR)/peers
	SIXMARK_FIO=$(abspath $(TARGET_DIR))/peers/bin/fio scripts/reproductions $(SIXMARK) $(or $(REPRODUCTIONS),$(TARGET_DIR)/reproductions) $(STUDIES)
