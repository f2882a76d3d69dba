#!/usr/bin/env bash
# webassembly.sh [FOLDER]: the modules that a page in a browser runs compile as Embedded Swift for
# WebAssembly; the fixed match, the reference cases of the physics and a recorded match have the same hashes
# there as in a native build, whether the toolchain's interpreter, Node or Chromium runs them; the engine plays
# in Node and in Chromium, by itself and against a host; and so does the tug of war of the documentation, made of its text alone. With
# a FOLDER, it takes the hosts from that build, keeps there what it compiled and what it checked last, and
# does not check the same sources twice.
set -euo pipefail
cd "$(dirname "$0")/.."
source Tests/embedded.sh
source Tests/reference-hashes.sh
# The engine's file, as it is and compressed, in bytes.
most_bytes=$((312 << 10)) most_compressed=$((128 << 10))

source Tests/unchanged.sh
skip_if_unchanged "${1:+$1/webassembly}" "$0" Tests/webassembly-modules.sh Tests/embedded.sh \
  "${reference_hashes[@]}" Tests/page.sh Sources/Carom/Carom.docc/{Rollback,GameOfYourOwn}.md \
  $(find Examples/Sources/TugOfWar -type f) \
  $(find "$runtime" Sources/WebPages Tests/EngineTests -type f) \
  $(find "${modules[@]/#/Sources/}" -name '*.swift')

find_web_tools || { echo "WebAssembly is not checked" >&2; exit 0; }
if [ -n "${1:-}" ]; then
  out=$(realpath -m "$1/webassembly-modules")
else
  out=$(mktemp -d)
  trap 'rm -rf "$out"' EXIT
fi
Tests/webassembly-modules.sh "$out"

# The hashes, under the toolchain's interpreter.
mkdir -p "$out/hashes"
write_hash_program "$out/hashes"
echo '@_expose(wasm, "hash") @_cdecl("hash") public func hash(_ index: Int32) -> UInt64 {
  ReferenceHashes.hash(Int(index))
}' >"$out/hashes/Program.swift"
compile Program "$out/hashes/Program.swift" "$out/hashes/ReferenceHashes.swift" "${hash_sources[@]}"
compile_runtime "$out/hashes" -DCWEB_FIXED_SEED
link "$out/hashes/hashes.wasm" --export=hash \
  "$out"/{CaromCore,CaromPhysics,CaromSimulation,AirHockey}.o "$out/Program.o" "$out"/hashes/*.o
# The runner prints a result as `[WasmTypes.Value.i64(…)]`.
for index in $(seq 0 $(($(expected_hashes | wc -l) - 1))); do
  "$tools/wasmkit" run "$out/hashes/hashes.wasm" hash "i32:$index" | sed -n 's/.*i64(\([0-9]*\)).*/\1/p'
done | diff <(expected_hashes) - \
  || { echo "the simulation has other hashes in WebAssembly" >&2; exit 1; }

# The engine.
compile_runtime "$out"
link_engine "$out/air-hockey.wasm"
bytes=$(wc -c <"$out/air-hockey.wasm") compressed=$(gzip -9 <"$out/air-hockey.wasm" | wc -c)
if [ "$bytes" -gt "$most_bytes" ] || [ "$compressed" -gt "$most_compressed" ]; then
  echo "the engine has $bytes bytes, $compressed compressed: at most $most_bytes, $most_compressed" >&2
  exit 1
fi

# The tug of war, whose example programs are the text of the pages.
block() { # block PAGE LANGUAGE TEXT: the first block of a page, in a language, that contains a text
  awk -v fence="\`\`\`$2" -v text="$3" '
    $0 == fence { inside = 1; block = ""; next }
    $0 == "```" { if (inside && index(block, text)) { printf "%s", block; exit } inside = 0 }
    inside { block = block $0 "\n" }' "Sources/Carom/Carom.docc/$1.md"
}
mkdir -p "$out/text"
block Rollback swift 'struct TugOfWar' >"$out/text/TugOfWar.swift"
block GameOfYourOwn html 'game.join' >"$out/text/index.html"
block GameOfYourOwn swift 'func servePage' >"$out/text/Page.swift"
for file in TugOfWar.swift index.html Page.swift; do
  diff "$out/text/$file" "Examples/Sources/TugOfWar/$file" \
    || { echo "Examples/Sources/TugOfWar/$file is not what the documentation has" >&2; exit 1; }
done
CAROM_MODULES=$out Tests/page.sh "$out/game-page" "$out/text/TugOfWar.swift" "$out/text/index.html"

if ! command -v node >/dev/null; then
  echo "without node, the engine is not run" >&2
  exit 0
fi
programs=${1:+$(realpath "$1")/debug}
CAROM_ENGINE=$out/air-hockey.wasm CAROM_HASHES=$out/hashes/hashes.wasm \
  CAROM_HOST=${programs:+$programs/air-hockey} \
  CAROM_MODULES=$out CAROM_GAME_PAGE=$out/game-page CAROM_GAME_HOST=${programs:+$programs/TugOfWar} \
  node --test Tests/EngineTests
mark_as_checked
