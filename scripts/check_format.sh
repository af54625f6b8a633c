#!/usr/bin/env bash
# Checks that every C++ file is laid out as .clang-format says; --fix rewrites those that are not.
set -euo pipefail
cd "$(dirname "$0")/.."

command -v clang-format-19 >/dev/null || {
  echo "check_format: clang-format-19 is needed: scripts/install_deps.sh --test" >&2
  exit 1
}
mapfile -d '' files < <(find src include apps python examples tests bench fuzz \
  -type f \( -name '*.h' -o -name '*.cc' \) -print0 2>/dev/null | sort -z)
[ "${#files[@]}" -gt 0 ] || { echo "check_format: no C++ file found" >&2; exit 1; }
if [ "${1:-}" = --fix ]; then
  clang-format-19 -i "${files[@]}"
else
  clang-format-19 --dry-run -Werror "${files[@]}"
fi
