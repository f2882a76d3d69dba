#!/usr/bin/env bash
# run.sh [FLAG…]: builds the examples with these flags of `swift build`, and runs each for the few
# seconds that it takes; each checks its own result.
set -euo pipefail
cd "$(dirname "$0")"
swift build "$@"
programs=$(swift build "$@" --show-bin-path)
for program in Chat TugOfWar FourPlayers WorldServer; do
  timeout 60 "$programs/$program"
done
