# The two commands of the README are `make play` and `make test`; `make help` lists the rest.
.DEFAULT_GOAL := help
.PHONY: help play build-game test test-in-real-time test-compile-page build wasm install bench \
  lint format sanitize soak screenshots docs fuzz mutants release-check

# Each set of build flags has a folder of its own, so that no run throws another's work away.
GATE := --scratch-path $(CURDIR)/.build-gate -Xswiftc -gline-tables-only
RELEASE := --scratch-path .build-release-tests -c release -Xswiftc -enable-testing
THREAD := --scratch-path .build-thread --sanitize=thread
ADDRESS := --scratch-path .build-address --sanitize=address
# Tests that run the programs are left out: under a sanitizer a program cannot keep its tick rate, and
# the applications of TwoProcessTests, which are written as for Apple's framework, have races of their own.
WITHIN := --skip '^(InteropTests|TidyTests)\.|(LossTests|MeetingTests|PlayTests|SeatTests|MisbehavingClientTests|WithdrawalTests|CommandLineTests|LocalPlayTests|TerminalTests|PythonPeerTests|RollbackMatchTests|FramesTests|ToolTests|ToolErrorTests|ToolLookupTests|ToolServiceTests|ToolTerminalTests|ToolNearbyTests|ToolTransferTests|TwoProcessTests)/'
# Programs that keep time, and groups of peers that connect within a time limit, run by themselves, not
# beside tests that use both cores.
NEARBY := ^(CaromNearbyTests|MultipeerConnectivityTests|CaromBonjourTests|GameKitTests)\.
PROGRAMS := ^EndToEndTests\.|$(NEARBY)
# Tests that start other programs with Foundation's Process, which works only while the descriptors of
# this process lie below 1,024: apart from the tests that open many sockets.
OTHERS := ^(InteropTests|TidyTests)\.|^WireFormatTests\.ReplayProofTests
SOCKETS := ^(CaromTransportTests|CaromDiscoveryTests|CaromServerTests|CaromFleetTests)\.|^CaromSessionTests\.(?!SwarmTests)
# Without a limit, all tests of a run begin at once, and those with sockets reach their time limits
# while they wait for a processor.
export SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH := 16
SWIFT_FILES := Sources Tests Benchmarks Package.swift
QUIET := .ci/quiet

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | awk -F '\t' '{printf "make %-13s %s\n", $$1, $$2}'

play: ## set up, build, and play a match in this terminal (ARGS=… for options)
	@.ci/setup play
	@$(MAKE) --no-print-directory build-game
	@.build/release/air-hockey play $(ARGS)

# The flags and the folder are those of `swift build -c release --product air-hockey` in any shell, so
# that neither compiles again what the other has compiled; release-check holds that.
build-game:
	@swift build -c release --product air-hockey

# The library's modules are tested as they are released, with their assertions; the tests themselves
# are unoptimized, which compiles faster.
# Tests with sockets, whose time limits are those of the real clock, and programs that keep time run apart
# from the tests that use both cores.
test: export CAROM_OPTIMIZED := 1
test: ## the gate: build and run all tests
	@.ci/setup test
	@$(QUIET) 'fault lists' Tests/Mutants/mutants.py --check
	@$(QUIET) 'build' swift build $(GATE) --build-tests
	@$(QUIET) 'tests' swift test $(GATE) --skip-build --disable-xctest \
	  --skip '$(OTHERS)|$(PROGRAMS)|$(SOCKETS)'
	@$(QUIET) 'other implementations' swift test $(GATE) --skip-build --disable-xctest \
	  --filter '$(OTHERS)'
	@$(MAKE) --no-print-directory --jobs 2 test-in-real-time test-compile-page
	@$(QUIET) 'examples' Examples/run.sh $(GATE)
	@$(QUIET) 'determinism' Tests/determinism.sh .build-gate
	@$(QUIET) 'WebAssembly' Tests/webassembly.sh .build-gate

# Sockets and programs wait more than they compute. Beside them, and with what processor time they leave,
# one core compiles the modules of the page. The peers in network namespaces need both cores.
test-in-real-time:
	@$(QUIET) 'sockets' swift test $(GATE) --skip-build --disable-xctest --filter '$(SOCKETS)'
	@$(QUIET) 'programs' swift test $(GATE) --skip-build --disable-xctest --filter '$(PROGRAMS)'

test-compile-page:
	@nice -n 5 $(QUIET) 'WebAssembly modules' Tests/webassembly-modules.sh \
	  .build-gate/webassembly-modules

build: ## everything, release
	@.ci/setup play
	swift build -c release

wasm: ## a page's engine as WebAssembly, and the files beside it: air hockey's in .build/page, or of GAME="FILE…" in PAGE=.build/game
	@Tests/page.sh $(if $(GAME),$(or $(PAGE),.build/game) $(GAME),.build/page)

# With the Swift libraries in it, the tool runs where Swift is not installed.
install: ## build the carom tool and install it as PREFIX/bin/carom (PREFIX=/usr/local)
	@.ci/setup play
	@swift build -c release --static-swift-stdlib --scratch-path .build-static --product carom
	@install -D -s .build-static/release/carom $(or $(PREFIX),/usr/local)/bin/carom

bench: ## the benchmarks (ARGS=browser, codec, discovery, echo, files, fleet, frames, nearby, rollback, session, snapshot, step or world, and options)
	@.ci/setup play
	@swift build -c release --product bench
	@.build/release/bench $(ARGS)

lint: ## check the formatting
	swift format lint --strict -r $(SWIFT_FILES)

format: ## mend the formatting
	swift format -i -r $(SWIFT_FILES)

# Tests that compute and tests that use sockets run apart, and the latter one at a time: under a
# sanitizer a host that probes its name in real time would otherwise miss its deadlines. Leaks are not
# detected, since Swift stores bits in pointers that the detector then does not recognize; a test of its
# own checks that a session leaves nothing. Freed memory is overwritten, since the Swift runtime, which
# releases objects, is not instrumented.
sanitize: export CAROM_OPTIMIZED := 1
sanitize: export QUIET_LIMIT := 5400
sanitize: export ASAN_OPTIONS := detect_leaks=0:max_free_fill_size=1048576:free_fill_byte=85
sanitize: ## the tests under the thread and the address sanitizer
	@.ci/setup test
	@$(QUIET) 'thread build' swift build $(THREAD) --build-tests
	@$(QUIET) 'thread tests' swift test $(THREAD) --skip-build --disable-xctest $(WITHIN) \
	  --skip '$(SOCKETS)|$(NEARBY)'
	@$(QUIET) 'thread sockets' swift test $(THREAD) --skip-build --disable-xctest $(WITHIN) \
	  --no-parallel --filter '$(SOCKETS)|$(NEARBY)'
	@$(QUIET) 'address build' swift build $(ADDRESS) --build-tests
	@$(QUIET) 'address tests' swift test $(ADDRESS) --skip-build --disable-xctest $(WITHIN) \
	  --skip '$(SOCKETS)|$(NEARBY)'
	@$(QUIET) 'address sockets' swift test $(ADDRESS) --skip-build --disable-xctest $(WITHIN) \
	  --no-parallel --filter '$(SOCKETS)|$(NEARBY)'

soak: ## long runs: two play SECONDS=600, eight tables of bots and pages 1200, swarms meet ROUNDS=20 times, discovery under stress, a file of 1 GiB, a fleet in the lab, SEEDS=1000 of each network, guessed codes, mutants
	@.ci/setup play
	@swift build -c release --product air-hockey
	@swift build -c release --product bench
	@swift build -c release --product carom
	@swift build -c release --product fleet-peer
	@python3 Tests/soak.py $(or $(SECONDS),600) $(or $(ROUNDS),20)
	@Tests/page.sh .build/page
	@node Tests/EngineTests/soak.mjs $(or $(SECONDS),1200)
	@$(QUIET) 'rollback' .build/release/bench rollback --minutes 10 \
	  --thresholds Benchmarks/Thresholds/rollback.json
	@$(QUIET) 'release build' swift build $(RELEASE) --build-tests
	@CAROM_MATCH_SECONDS=$(or $(SECONDS),600) $(QUIET) 'matches in step' \
	  swift test $(RELEASE) --skip-build --disable-xctest \
	  --filter 'terrible line|same hash at every tick|false alarm|through loss and delay'
	@CAROM_SEEDS=$(or $(SEEDS),1000) $(QUIET) 'networks by seed' \
	  swift test $(RELEASE) --skip-build --disable-xctest --filter NetworkConditionTests
	@CAROM_GUESSES=10000 $(QUIET) 'guessed codes' \
	  swift test $(RELEASE) --skip-build --disable-xctest --filter GuessedCodeTests
	@CAROM_SEEDS=$(or $(SEEDS),1000) $(QUIET) 'fleets by seed' \
	  swift test $(RELEASE) --skip-build --disable-xctest --filter FleetRunTests
	@CAROM_SEEDS=$(or $(SEEDS),1000) $(QUIET) 'meshes by seed' \
	  swift test $(RELEASE) --skip-build --disable-xctest --filter 'WorldTests.*thirty-two'
	@CAROM_SEEDS=20 $(QUIET) 'groups at every step' \
	  swift test $(RELEASE) --skip-build --disable-xctest --filter ReplicaFailureTests
	@$(MAKE) --no-print-directory mutants ARGS=

mutants: ## plant single faults in a copy, and see whether the tests notice each (ARGS=… for options)
	@.ci/setup test
	@Tests/Mutants/mutants.py $(ARGS)

screenshots: ## pictures of the page of air hockey for the documentation (needs node, chromium and pngquant)
	@.ci/setup play
	@$(MAKE) --no-print-directory build-game
	@Tests/page.sh .build/page
	@node Tests/EngineTests/screenshots.mjs Sources/Carom/Carom.docc/Resources

docs: ## the documentation as a static site in .build/docs
	@.ci/setup play
	@.ci/docs .build/docs

fuzz: ## random bytes at every decoder, RUNS=1000000 inputs each (or a time, as in 30s); BLIND=1: faster, without coverage
	@.ci/setup play
	@Tests/Fuzz/run.sh $(or $(RUNS),1000000)

release-check: ## all that a release needs, in a clean clone (BASE=… to compare the public interface with)
	@.ci/release-check $(BASE)
