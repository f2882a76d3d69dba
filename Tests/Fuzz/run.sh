#!/usr/bin/env bash
# run.sh 30s|RUNS [TARGET…]: gives each target that much time, or that many inputs, on top of the
# corpus that earlier runs left in .build. A target without coverage fuzzes nothing: an error.
set -euo pipefail
cd "$(dirname "$0")"
amount=${1:-30s}
shift || true
targets=("$@")
[ ${#targets[@]} -gt 0 ] || mapfile -t targets < <(ls Sources)
case $amount in
*s) limit=-max_total_time=${amount%s} ;;
*) limit=-runs=$amount ;;
esac
export SWIFT_BACKTRACE=enable=no # or a crash waits in the backtracer
# No search for leaks: an enum has its case in the spare bits of its pointer, so that what hangs on
# it in a global looks lost. What really leaks, run by run, meets the limit of memory.
export ASAN_OPTIONS=detect_leaks=0
for name in "${targets[@]}"; do
  # SwiftPM is told of the fuzzer, so that it expects no main; of several -sanitize the compiler
  # takes the last, so that one names the address sanitizer too. Without -parse-as-library the
  # program has a main of its own, and fuzzes nothing.
  swift build -c release --sanitize=fuzzer --product "$name" \
    -Xswiftc -sanitize=fuzzer,address -Xswiftc -parse-as-library \
    >".build-$name.log" 2>&1 || { cat ".build-$name.log"; exit 1; }
  rm ".build-$name.log"
  # A script of a machine ends after 160 steps; rather more of them than longer ones.
  case $name in
  MachineFuzz) length=512 ;;
  NodeFuzz) length=1024 ;;
  *) length=4096 ;;
  esac
  mkdir -p ".build/corpus/$name"
  log=.build/$name.log
  ".build/release/$name" "$limit" "-max_len=$length" -timeout=10 -rss_limit_mb=1024 \
    -print_final_stats=1 -artifact_prefix=".build/$name-" ".build/corpus/$name" >"$log" 2>&1 \
    || { tail -40 "$log"; exit 1; }
  coverage=$(grep -o 'cov: [0-9]*' "$log" | tail -1 || true)
  [ -n "$coverage" ] || { echo "$name: no coverage, so nothing was fuzzed"; exit 1; }
  runs=$(grep -o 'number_of_executed_units: [0-9]*' "$log" | grep -o '[0-9]*$')
  echo "$name: $runs runs, $coverage"
done
