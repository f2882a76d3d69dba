#!/usr/bin/env bash
# page.sh FOLDER: builds air hockey's page into a folder that any web server can serve: the engine as
# WebAssembly, and the files beside it.
set -euo pipefail
folder=$(realpath -m "${1:?usage: page.sh FOLDER}")
cd "$(dirname "$0")/.."
source Tests/embedded.sh

find_web_tools
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
compile_modules
compile_runtime "$out"
link_engine "$out/air-hockey.wasm"
mkdir -p "$folder"
cp "$out/air-hockey.wasm" Sources/AirHockeyPage/*.{html,js} "$folder"
