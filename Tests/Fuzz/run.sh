#!/usr/bin/env bash
# run.sh 30s|RUNS [TARGET…]: runs each target for that time or number of inputs, starting from the
# corpus that earlier runs left in .build. A target that reports no coverage is an error.
#
# With BLIND=1, the code is compiled without coverage, for the address sanitizer alone, and each input
# is a random change of one in the corpus. That finds no new corpus, but takes a fraction of the time.
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
export SWIFT_BACKTRACE=enable=no # otherwise a crash hangs in the backtracer
# Leak detection is off: an enum keeps its case in the spare bits of its pointer, so objects that a
# global enum refers to look leaked. Real leaks accumulate and exceed the memory limit. Where memory
# was allocated is not recorded, which would take a quarter of the time: run an input that fails once
# more with ASAN_OPTIONS=detect_leaks=0.
export ASAN_OPTIONS=detect_leaks=0:malloc_context_size=0
if [ "${BLIND:-0}" = 1 ]; then
  folder=.build-blind
  library=$(dirname "$(dirname "$(readlink -f "$(command -v swiftc)")")")/lib/clang
  library=$(find "$library" -name "libclang_rt.fuzzer-$(uname -m).a" | head -1)
  [ -n "$library" ] || { echo "the toolchain has no libFuzzer"; exit 1; }
  flags=(-Xswiftc -sanitize=address -Xlinker "$library" -Xlinker -lstdc++)
  options=(-keep_seed=1 -len_control=0)
else
  folder=.build
  flags=(-Xswiftc -sanitize=fuzzer,address)
  options=()
fi
for name in "${targets[@]}"; do
  # --sanitize=fuzzer makes SwiftPM expect no main. The compiler uses only its last -sanitize
  # option, which therefore names the address sanitizer too. Without -parse-as-library the program
  # would have a main of its own and fuzz nothing.
  swift build -c release --scratch-path "$folder" --sanitize=fuzzer --product "$name" \
    "${flags[@]}" -Xswiftc -parse-as-library \
    >".build-$name.log" 2>&1 || { cat ".build-$name.log"; exit 1; }
  rm ".build-$name.log"
  # The inputs of these targets are scripts or sequences of messages. Many short ones reach more than
  # a few long ones in the same time.
  case $name in
  HandshakeFuzz | HelloFuzz | HostFuzz | MachineFuzz | MeshFuzz | NoiseFuzz) length=512 ;;
  ReplayFuzz | ReplicaFuzz | SCTPFuzz | SnapshotFuzz | StreamFuzz | TransferFuzz) length=512 ;;
  NodeFuzz | RollbackFuzz) length=1024 ;;
  *) length=4096 ;;
  esac
  mkdir -p ".build/corpus/$name"
  log=$folder/$name.log
  # The default schedule of inputs takes most of the time where inputs are cheap.
  "$folder/release/$name" "$limit" "-max_len=$length" -timeout=10 -rss_limit_mb=1024 -entropic=0 \
    "${options[@]}" -print_final_stats=1 "-artifact_prefix=$folder/$name-" \
    ".build/corpus/$name" >"$log" 2>&1 \
    || { tail -40 "$log"; exit 1; }
  coverage=$(grep -o 'cov: [0-9]*' "$log" | tail -1 || true)
  [ -n "$coverage" ] || [ "$folder" = .build-blind ] \
    || { echo "$name: no coverage, so nothing was fuzzed"; exit 1; }
  runs=$(grep -o 'number_of_executed_units: [0-9]*' "$log" | grep -o '[0-9]*$')
  echo "$name: $runs runs${coverage:+, $coverage}"
done
