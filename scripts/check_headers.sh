#!/usr/bin/env bash
# Checks that every public header compiles alone, without warnings, with both compilers, and needs
# nothing but the standard library.
set -euo pipefail
cd "$(dirname "$0")/.."

status=0
count=0
for header in include/lattice/*.h; do
  count=$((count + 1))
  for compiler in clang++-19 g++; do
    if ! printf '#include "%s"\n' "${header#include/}" |
      "$compiler" -std=c++20 -fsyntax-only -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror \
        -Iinclude -x c++ -; then
      echo "check_headers: $header does not compile alone with $compiler" >&2
      status=1
    fi
  done
done
[ "$count" -gt 0 ] || { echo "check_headers: no public header found" >&2; exit 1; }
echo "check_headers: $count headers"
exit $status
