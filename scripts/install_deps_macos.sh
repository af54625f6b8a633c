#!/usr/bin/env bash
# Installs what lattice is built and tested with on macOS, from Homebrew. Xcode's command line tools,
# which have the compiler, must be there.
set -euo pipefail

command -v brew >/dev/null || {
  echo "install_deps_macos: Homebrew is needed: https://brew.sh" >&2
  exit 1
}
brew install --quiet cmake ninja ccache pkgconf highway simdjson tl-expected fmt utf8proc pcre2 xxhash \
  cli11 curl openssl@3 googletest
