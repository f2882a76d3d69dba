#!/usr/bin/env bash
# page.sh FOLDER [FILE…]: builds a page into a folder that any web server can serve: the engine as
# WebAssembly, and the files beside it. Without a FILE, the page is air hockey's. Otherwise it is that of
# the game whose simulation is in the Swift files among these files and folders, beside which all others
# are copied. What the library's modules compile to is kept in $CAROM_MODULES, by default
# .build/webassembly-modules.
set -euo pipefail
folder=$(realpath -m "${1:?usage: page.sh FOLDER [FILE…]}")
shift
game=()
for file in "$@"; do
  if [ -d "$file" ]; then
    while IFS= read -r found; do game+=("$found"); done < <(find "$file" -type f | sort)
  elif [ -f "$file" ]; then
    game+=("$file")
  else
    echo "$file: there is no such file" >&2
    exit 1
  fi
done
# The compiler names the files of a game as they were given, so that it runs where they were.
root=$(cd "$(dirname "$0")/.." && pwd)
pages=$root/Sources/WebPages
source "$root/Tests/embedded.sh"
runtime=$root/$runtime

find_web_tools
modules_folder=$(realpath -m "${CAROM_MODULES:-$root/.build/webassembly-modules}")
(cd "$root" && Tests/webassembly-modules.sh "$modules_folder")
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
compile_runtime "$out"
mkdir -p "$folder"
if [ ${#game[@]} -eq 0 ]; then
  link_engine "$folder/air-hockey.wasm"
  cp "$pages"/*.{html,js} "$folder"
  rm -f "$folder/game.js"
  exit 0
fi

swift=() others=()
for file in "${game[@]}"; do
  case $file in
    *.swift) swift+=("$file") ;;
    *) others+=("$file") ;;
  esac
done
compile_game "${swift[@]}"
link_game "$folder/game.wasm"
cp "$pages/carom.js" "$pages/game.js" ${others[@]+"${others[@]}"} "$folder"
[ -e "$folder/index.html" ] || echo "the page still needs an index.html in $folder" >&2
