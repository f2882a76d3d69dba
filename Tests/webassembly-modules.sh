#!/usr/bin/env bash
# webassembly-modules.sh FOLDER: compiles, into a folder, the modules that a page in a browser runs, as
# Embedded Swift for WebAssembly; not again where the same sources are compiled there. This uses one core
# for minutes: `make test` does it beside the tests that wait, and Tests/webassembly.sh uses the result.
set -euo pipefail
out=$(realpath -m "${1:?usage: webassembly-modules.sh FOLDER}")
cd "$(dirname "$0")/.."
source Tests/embedded.sh

source Tests/unchanged.sh
skip_if_unchanged "$out/compiled" "$0" Tests/embedded.sh \
  $(find "${modules[@]/#/Sources/}" -name '*.swift')

find_web_tools || { echo "WebAssembly is not checked" >&2; exit 0; }
mkdir -p "$out"
rm -f "$out/compiled"
compile_modules
mark_as_checked
