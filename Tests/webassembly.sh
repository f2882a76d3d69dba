#!/usr/bin/env bash
# webassembly.sh [FOLDER]: the modules that a page in a browser runs compile as Embedded Swift for
# WebAssembly, and the fixed match has the same hashes there as in a native build. With a FOLDER, it keeps
# there what it checked last, and does not check the same sources twice.
set -euo pipefail
cd "$(dirname "$0")/.."
# A module stands behind those that it imports.
modules=(CaromCore CaromPhysics CaromSimulation AirHockey CaromCodec CaromProtocol)
match=Tests/CaromSimulationTests/Support/FixedMatch.swift
hashes=Tests/Fixtures/match-hashes.txt
runtime=CSources/CWebRuntime

source Tests/unchanged.sh
skip_if_unchanged "${1:+$1/webassembly}" "$0" "$match" "$hashes" $(find "$runtime" -type f) \
  $(find "${modules[@]/#/Sources/}" -name '*.swift')

tools=$(dirname "$(readlink -f "$(command -v swiftc)")")
for tool in wasm-ld wasmkit; do
  if [ ! -x "$tools/$tool" ]; then
    echo "this Swift toolchain has no $tool: WebAssembly is not checked" >&2
    exit 0
  fi
done
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

compile() { # compile MODULE FILE...
  local module=$1
  shift
  swiftc -target wasm32-unknown-none-wasm -swift-version 6 -wmo -parse-as-library -O \
    -package-name carom -enable-experimental-feature Embedded \
    -enable-experimental-feature Lifetimes -enable-upcoming-feature ExistentialAny \
    -enable-upcoming-feature NonisolatedNonsendingByDefault -suppress-warnings -I "$out" \
    -module-name "$module" -emit-module -emit-module-path "$out/$module.swiftmodule" \
    -c -o "$out/$module.o" "$@"
}

for module in "${modules[@]}"; do
  compile "$module" $(find "Sources/$module" -name '*.swift' | sort) \
    || { echo "$module does not compile for WebAssembly" >&2; exit 1; }
done
echo '@_expose(wasm, "hash") @_cdecl("hash") public func hash(_ index: Int32) -> UInt64 {
  FixedMatch.play().hashes[Int(index)]
}' >"$out/Program.swift"
compile Program "$out/Program.swift" "$match"
for source in heap runtime; do
  "$tools/clang" --target=wasm32-unknown-none-wasm -O2 -mbulk-memory -ffreestanding -Wall -Wextra \
    -Werror -DCWEB_FIXED_SEED -I "$runtime/include" -c "$runtime/$source.c" -o "$out/$source.o"
done
"$tools/wasm-ld" --no-entry --export=hash --gc-sections --strip-all "$out"/*.o -o "$out/match.wasm"

# The runner prints a result as `[WasmTypes.Value.i64(…)]`.
for index in 0 1 2; do
  "$tools/wasmkit" run "$out/match.wasm" hash "i32:$index" | sed -n 's/.*i64(\([0-9]*\)).*/\1/p'
done | diff "$hashes" - || { echo "the fixed match has other hashes in WebAssembly" >&2; exit 1; }
mark_as_checked
