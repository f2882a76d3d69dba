#!/usr/bin/env bash
# run.sh SECONDS [TARGET…]: fuzzes each target that long, from the corpus that earlier runs left.
# A target that finds nothing new from its first input on is not instrumented: that is an error.
set -euo pipefail
cd "$(dirname "$0")"
seconds=${1:-30}
shift || true
targets=("$@")
[ ${#targets[@]} -gt 0 ] || mapfile -t targets < <(ls Sources)
export SWIFT_BACKTRACE=enable=no # or a crash waits in the backtracer
for name in "${targets[@]}"; do
  # Without -parse-as-library the program has a main of its own, and fuzzes nothing.
  swift build -c release --sanitize=fuzzer --sanitize=address --product "$name" \
    -Xswiftc -parse-as-library 2>&1 | grep -E "error:|warning: unre|Compiling|Build" | tail -1
  mkdir -p ".build/corpus/$name"
  log=.build/$name.log
  .build/release/"$name" -max_total_time="$seconds" -max_len=4096 -timeout=10 -rss_limit_mb=512 \
    -print_final_stats=1 -artifact_prefix=".build/$name-" ".build/corpus/$name" >"$log" 2>&1 \
    || { tail -40 "$log"; exit 1; }
  coverage=$(grep -o 'cov: [0-9]*' "$log" | tail -1)
  runs=$(grep -o 'number_of_executed_units: [0-9]*' "$log" | grep -o '[0-9]*$')
  [ -n "$coverage" ] || { echo "$name: no coverage, so nothing was fuzzed"; exit 1; }
  echo "$name: $runs runs, $coverage"
done
