#!/usr/bin/env bash
# run.sh [FLAG…]: builds the examples and their tests with these flags of `swift build`, runs the tests,
# and runs each example for the few seconds that it takes; each checks its own result.
set -euo pipefail
cd "$(dirname "$0")"
swift build "$@" --build-tests
timeout 120 swift test "$@" --skip-build --disable-xctest
programs=$(swift build "$@" --show-bin-path)
for program in Chat TugOfWar Together FourPlayers WorldServer; do
  timeout 60 "$programs/$program" || {
    status=$?
    echo "$program failed (exit status $status; 124 says that it took more than 60 s)" >&2
    exit "$status"
  }
done

# The program of the page Start, as two processes.
"$programs/Start" host Lobby lo &
host=$!
trap 'kill "$host" 2>/dev/null || true' EXIT
said=$(timeout 60 "$programs/Start" join Leo lo)
[ "$said" = "Leo: hello" ] || {
  echo "Start: expected 'Leo: hello', not '$said'" >&2
  exit 1
}
