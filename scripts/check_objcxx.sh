#!/usr/bin/env bash
# Checks syntax and types of the Objective-C++ files, on any system with clang-19.
#
# Instead of Apple's headers it uses the declarations in tests/apple_headers, which are ours. So a
# typing error, a wrong C++ type, a forgotten case of ARC or a call of something undeclared is found;
# a misread name or signature of Apple's is not, and nothing is executed: that takes a Mac.
set -euo pipefail
cd "$(dirname "$0")/.."

mapfile -d '' files < <(find src -name '*.mm' -print0 | sort -z)
[ "${#files[@]}" -gt 0 ] || { echo "check_objcxx: no Objective-C++ file found" >&2; exit 1; }
for file in "${files[@]}"; do
  # The run-time library is named because ARC needs a modern one; it decides nothing else here.
  clang++-19 -x objective-c++ -std=c++20 -fsyntax-only -fobjc-arc -fblocks \
    -fobjc-runtime=gnustep-2.0 -Wall -Wextra -Wpedantic -Wconversion -Wshadow \
    -Wnon-virtual-dtor -Wold-style-cast -Werror -Isrc -Iinclude -isystem tests/apple_headers "$@" "$file"
done
echo "check_objcxx: ${#files[@]} files"
