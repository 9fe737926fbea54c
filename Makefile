# Two commands bring up a fresh Debian 12 machine: `make demo` and `make check`. Everything else is
# CMake: see CMakePresets.json.

PRESET ?= release

.PHONY: all demo check check-long bench bench-blst deps build format clean

all: build

deps:
	@scripts/install-deps

build: deps
	@cmake --preset $(PRESET) >/dev/null
	@cmake --build --preset $(PRESET)

# The main job: builds, then makes a key for the PoRep of a 2 KiB sector (once), proves and verifies.
demo: build
	@scripts/demo build/$(PRESET)/bin

# Every test but those labelled `long`; the last line counts them.
check: build
	@scripts/check-layers
	@scripts/check-format
	@scripts/run-tests $(PRESET)

# The tests labelled `long`, then two minutes of each fuzz target.
check-long: build
	@scripts/run-tests release-long
	@cmake --preset fuzz >/dev/null
	@cmake --build --preset fuzz
	@scripts/run-tests fuzz-long

bench: build
	@set -e; for b in build/$(PRESET)/bin/bench_*; do $$b; done

bench-blst: build
	@scripts/bench-blst

format:
	@scripts/check-format --fix

clean:
	rm -rf build
