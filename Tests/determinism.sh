#!/usr/bin/env bash
# determinism.sh [FOLDER]: the simulation gives the same bits however it is optimised. Its modules are
# compiled with -Onone, -O and -Ounchecked; their code fuses no multiplication with an addition,
# reorders none, and calls none of the system's mathematical functions; and the fixed match, the reference
# cases of the physics and a recorded match have their hashes in each build. With a FOLDER, it keeps there what it checked last, and does not check the same
# sources twice.
set -euo pipefail
cd "$(dirname "$0")/.."
modules=(CaromCore CaromPhysics CaromSimulation AirHockey)
source Tests/reference-hashes.sh

source Tests/unchanged.sh
skip_if_unchanged "${1:+$1/determinism}" "$0" "${reference_hashes[@]}" \
  $(find "${modules[@]/#/Sources/}" -name '*.swift')

out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
clang=$(dirname "$(readlink -f "$(command -v swiftc)")")/clang
flags=(-swift-version 6 -wmo -parse-as-library -package-name carom
  -enable-experimental-feature Lifetimes -enable-upcoming-feature ExistentialAny
  -enable-upcoming-feature NonisolatedNonsendingByDefault)

write_hash_program "$out"
echo '@main enum Program {
  static func main() {
    for index in 0..<ReferenceHashes.count { print(ReferenceHashes.hash(index)) }
  }
}' >"$out/Program.swift"

# Bits differ between machines or builds where one of these stands in the code.
forbidden='llvm\.fm(a|uladd)|f(add|sub|mul|div|neg) [^%]*(fast|contract|reassoc|arcp|afn|nnan|ninf|nsz)'
library='@(llvm\.)?(sin|cos|tan|asin|acos|atan|atan2|sincos|exp|exp2|expm1|log|log2|log10|log1p|pow|hypot|cbrt|fmod|remainder)f?(\.[a-z0-9]+)?\('

check() {
  # The intermediate code is optimized already, so clang only makes machine code of it.
  local level=$1 folder=$out/$1 module machine=(-O1 -Xclang -disable-llvm-passes)
  if [ "$level" = Onone ]; then machine=(-O0); fi
  mkdir -p "$folder"
  for module in "${modules[@]}"; do
    swiftc "${flags[@]}" "-$level" -I "$folder" -module-name "$module" -emit-module \
      -emit-module-path "$folder/$module.swiftmodule" -emit-ir -o "$folder/$module.ll" \
      $(find "Sources/$module" -name '*.swift' | sort)
    if grep -nE "$forbidden|$library" "$folder/$module.ll" | head -5 | grep .; then
      echo "$module at -$level: the lines above do not give the same bits everywhere" >&2
      return 1
    fi
    "$clang" -x ir "${machine[@]}" -c "$folder/$module.ll" -o "$folder/$module.o" -Wno-override-module
  done
  swiftc "${flags[@]}" "-$level" -I "$folder" "$out/Program.swift" \
    "$out/ReferenceHashes.swift" "${hash_sources[@]}" "$folder"/*.o -lm -o "$folder/hashes"
  "$folder/hashes" | diff <(expected_hashes) - \
    || { echo "the simulation has other hashes at -$level" >&2; return 1; }
}

check Onone &
check O &
check Ounchecked &
failed=0
for job in $(jobs -p); do wait "$job" || failed=1; done
if [ $failed -eq 0 ]; then mark_as_checked; fi
exit $failed
