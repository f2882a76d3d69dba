# Sourced by what compiles the modules of a page as Embedded Swift for WebAssembly.
#   find_web_tools       sets `tools`, the folder of the toolchain's programs; fails where one is missing
#   compile MODULE FILE...  compiles a module into $out
#   sources MODULE       prints the files of a module that a page needs
#   compile_modules      compiles those of `modules`
#   compile_game FILE... compiles the Swift files of a game, one of which declares the simulation
#   compile_runtime FOLDER FLAG...  compiles, into a folder, what Embedded Swift expects of a C library
#   link PROGRAM ARGUMENT...  links objects; the arguments are their paths and flags
#   link_engine PROGRAM  links air hockey's engine
#   link_game PROGRAM    links the engine of the game that was compiled
# The modules are looked for in $modules_folder, if it is set, or in $out.
# A module stands behind those that it imports.
modules=(CaromCore CaromPhysics CaromSimulation AirHockey CaromCodec CaromProtocol WebEngine WebGame
  AirHockeyEngine)
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

# The session handles a few packets a tick and has most of the code, so it is compiled for size. So is what
# plays a tick, which takes some microseconds, but only by LLVM, which is told the size of functions by
# their attributes: with -Osize, Swift 6.3.1 compiles a match without a network wrongly.
optimization() { # optimization MODULE: the flags with which the compiler optimizes a module
  case $1 in
    CaromCodec | CaromProtocol | WebEngine) echo -Osize ;;
    *) echo -O -Xllvm -force-attribute=minsize -Xllvm -force-attribute=optsize ;;
  esac
}

# Objects are LLVM's bitcode, which the linker optimizes as one program. The traps of one function may
# share an instruction.
compile_quietly() {
  local module=$1
  shift
  swiftc -target "$target" -swift-version 6 -wmo -parse-as-library $(optimization "$module") \
    -package-name carom -enable-experimental-feature Embedded \
    -enable-experimental-feature Lifetimes -enable-upcoming-feature ExistentialAny \
    -enable-upcoming-feature NonisolatedNonsendingByDefault -suppress-warnings -Xfrontend -mergeable-traps -lto=llvm-full -I "$out" \
    -I "${modules_folder:-$out}" \
    -module-name "$module" -emit-module -emit-module-path "$out/$module.swiftmodule" \
    -c -o "$out/$module.o" "$@"
}

compile() {
  compile_quietly "$@" || { echo "$1 does not compile for WebAssembly" >&2; return 1; }
}

# What a game gets by `import Carom` in a page: the modules that know neither sockets nor clocks.
compile_carom() {
  printf '@_exported import %s\n' CaromCore CaromPhysics CaromSimulation >"$out/Carom.swift"
  compile Carom "$out/Carom.swift"
}

# Prints the Swift files of a module, of which a page is never a host of the session protocol.
sources() { # sources MODULE
  find "Sources/$1" -name '*.swift' -not -path 'Sources/CaromProtocol/Host/*' \
    -not -path 'Sources/CaromProtocol/Matchmaking/*' | sort
}

compile_modules() {
  local module
  for module in "${modules[@]}"; do
    compile "$module" $(sources "$module") || return 1
  done
  compile_carom
}

# Prints the line, the name and the file of each type that is declared as a Simulation.
find_simulations() {
  awk '
    FNR == 1 { head = "" }
    {
      line = $0
      sub(/\/\/.*/, "", line)
      if (head != "") {
        head = head " " line
      } else if (match(line, /(^|[ \t])(struct|enum|extension)[ \t]+[A-Za-z_]/)) {
        head = substr(line, RSTART)
        first = FNR
      }
      brace = index(head, "{")
      if (brace == 0) next
      head = substr(head, 1, brace - 1)
      if (head ~ /:(.*[^A-Za-z0-9_])?Simulation([^A-Za-z0-9_]|$)/) {
        sub(/^[ \t]*(struct|enum|extension)[ \t]+/, "", head)
        sub(/[^A-Za-z0-9_.].*/, "", head)
        print first "\t" head "\t" FILENAME
      }
      head = ""
    }' "$@"
}

# What the compiler and the linker refuse is told in a line for each place. What has no place is the
# compiler's own failure, of which everything is told.
compile_game() {
  local found line name file
  found=$([ $# -eq 0 ] || find_simulations "$@")
  case $(grep -c . <<<"$found") in
    0) echo "error: no type is declared as a Simulation in: $*" >&2 && return 1 ;;
    1) ;;
    *) awk -F '\t' '{ print $3 ":" $1 ": error: a page has one Simulation, of several: " $2 }' \
      <<<"$found" >&2 && return 1 ;;
  esac
  IFS=$'\t' read -r line name file <<<"$found"
  game_sources=("$@")
  # What the type lacks for a page is told where it is declared.
  cat >"$out/Page.swift" <<SWIFT
import WebGame
#sourceLocation(file: "$file", line: $line)
@_expose(wasm, "load") @_cdecl("carom_load") public func caromLoad() { WebGame.load(WebGame.GameEngine($name.self, encode: WebGame.eventEncoding(of: $name.self))) }
SWIFT
  if ! compile_quietly Game -diagnostic-style llvm "$@" "$out/Page.swift" 2>"$out/errors"; then
    grep -E '^[^ ]+:[0-9]+:[0-9]+: error: ' "$out/errors" | sort -u -t : -k 1,2 >&2 \
      || cat "$out/errors" >&2
    return 1
  fi
}

compile_runtime() {
  local source folder=$1
  shift
  for source in heap runtime; do
    "$tools/clang" --target="$target" -O2 -mbulk-memory -ffreestanding -Wall -Wextra -Werror "$@" \
      -I "$runtime/include" -c "$runtime/$source.c" -o "$folder/$source.o" || return 1
  done
}

# The compiler has inlined where speed needs it. The linker inlines only what becomes smaller by it, such
# as a function with one caller, and merges functions with the same code.
link() {
  local program=$1
  shift
  "$tools/wasm-ld" --no-entry --gc-sections --strip-all \
    --lto-O2 -mllvm -inline-threshold=0 -mllvm -enable-merge-functions "$@" \
    "$tools/../lib/swift/embedded/$target/libswiftUnicodeDataTables.a" -o "$program"
}

# The functions of the modules say themselves that they are exported.
objects() { # objects MODULE...
  local folder=${modules_folder:-$out} module
  for module in "$@"; do echo "$folder/$module.o"; done
}

link_engine() {
  link "$1" $(objects CaromCore CaromPhysics CaromSimulation AirHockey CaromCodec CaromProtocol \
    WebEngine AirHockeyEngine) "$out/heap.o" "$out/runtime.o"
}

link_game() {
  local symbol
  link "$1" $(objects CaromCore CaromPhysics CaromSimulation CaromCodec CaromProtocol WebEngine \
    WebGame) "$out/Game.o" "$out/heap.o" "$out/runtime.o" 2>"$out/errors" && return
  # The linker says `wasm-ld: error: FILE: undefined symbol: NAME`, once for each use.
  while read -r symbol; do
    grep -n -w -- "$symbol" "${game_sources[@]}" /dev/null | head -n 1 \
      | sed -E "s/^(.*:[0-9]+):.*/\1: error: a page has no function '$symbol'/" | grep . \
      || echo "error: a page has no function '$symbol', which the game or Swift's library calls"
  done < <(sed -n 's/.*undefined symbol: //p' "$out/errors" | sort -u) >&2
  grep -q 'undefined symbol' "$out/errors" || cat "$out/errors" >&2
  return 1
}
