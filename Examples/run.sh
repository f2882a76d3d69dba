#!/usr/bin/env bash
# Builds the examples and runs each for the few seconds that it takes; each checks its own result.
set -euo pipefail
cd "$(dirname "$0")"
swift build
for program in Chat TugOfWar FourPlayers WorldServer; do
  timeout 60 ".build/debug/$program"
done
