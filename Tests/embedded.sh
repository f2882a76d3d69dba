# Sourced by what compiles the modules of a page as Embedded Swift for WebAssembly.
#   find_web_tools       sets `tools`, the folder of the toolchain's programs; fails where one is missing
#   compile MODULE FILE...  compiles a module into $out
#   compile_modules      compiles those of `modules`
#   compile_runtime FOLDER FLAG...  compiles, into a folder, what Embedded Swift expects of a C library
#   link PROGRAM ARGUMENT...  links objects; the arguments are their paths and flags
# A module stands behind those that it imports.
modules=(CaromCore CaromPhysics CaromSimulation AirHockey CaromCodec CaromProtocol WebEngine)
runtime=CSources/CWebRuntime
target=wasm32-unknown-none-wasm

find_web_tools() {
  tools=$(dirname "$(readlink -f "$(command -v swiftc)")")
  for tool in wasm-ld wasmkit clang; do
    if [ ! -x "$tools/$tool" ]; then
      echo "this Swift toolchain has no $tool, which WebAssembly needs" >&2
      return 1
    fi
  done
}

compile() {
  local module=$1
  shift
  swiftc -target "$target" -swift-version 6 -wmo -parse-as-library -O \
    -package-name carom -enable-experimental-feature Embedded \
    -enable-experimental-feature Lifetimes -enable-upcoming-feature ExistentialAny \
    -enable-upcoming-feature NonisolatedNonsendingByDefault -suppress-warnings -I "$out" \
    -module-name "$module" -emit-module -emit-module-path "$out/$module.swiftmodule" \
    -c -o "$out/$module.o" "$@" \
    || { echo "$module does not compile for WebAssembly" >&2; return 1; }
}

compile_modules() {
  local module
  for module in "${modules[@]}"; do
    compile "$module" $(find "Sources/$module" -name '*.swift' | sort) || return 1
  done
}

compile_runtime() {
  local source folder=$1
  shift
  for source in heap runtime; do
    "$tools/clang" --target="$target" -O2 -mbulk-memory -ffreestanding -Wall -Wextra -Werror "$@" \
      -I "$runtime/include" -c "$runtime/$source.c" -o "$folder/$source.o" || return 1
  done
}

link() {
  local program=$1
  shift
  "$tools/wasm-ld" --no-entry --gc-sections --strip-all "$@" \
    "$tools/../lib/swift/embedded/$target/libswiftUnicodeDataTables.a" -o "$program"
}

# The engine's functions say themselves that they are exported.
link_engine() {
  local objects=("${modules[@]/#/$out/}")
  link "$1" "${objects[@]/%/.o}" "$out/heap.o" "$out/runtime.o"
}
