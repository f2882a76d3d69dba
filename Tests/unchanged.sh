# Sourced by checks that take long: lets them pass at once where nothing that they read has changed.
#   skip_if_unchanged STAMP FILE...  ends the script if its last success, kept in STAMP, was with the same
#                                    compiler and files; an empty STAMP keeps nothing
#   mark_as_checked                  keeps what was passed to skip_if_unchanged as the last success
skip_if_unchanged() {
  stamp=$1
  shift
  inputs=$(swiftc --version 2>&1 && printf '%s\0' "$@" | sort -z | xargs -0 sha256sum)
  if [ -n "$stamp" ] && [ "$inputs" = "$(cat "$stamp" 2>/dev/null)" ]; then exit 0; fi
}

mark_as_checked() {
  if [ -n "$stamp" ]; then echo "$inputs" >"$stamp"; fi
}
