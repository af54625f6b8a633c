#!/usr/bin/env bash
# Installs the Debian packages that lattice is built and tested with.
#
#   scripts/install_deps.sh [--build | --test | --all] [--check]
#
#   --build  what ./quickstart needs: compiler, build tools, libraries (the default)
#   --test   --build plus what ./test needs: test libraries, clang-tidy, sanitizer runtimes, qemu
#   --all    the same as --test
#   --check  installs nothing: lists what is missing, exit code 1 if something is
#
# Does nothing, in well under a second, when every package is already there.
set -euo pipefail

BUILD_PACKAGES=(
  clang-19 lld-19 llvm-19 cmake ninja-build ccache pkg-config
  libhwy-dev libsimdjson-dev libexpected-dev libfmt-dev libutf8proc-dev libpcre2-dev
  libxxhash-dev libcli11-dev libcurl4-openssl-dev libssl-dev
  ca-certificates python3 python3-pip
)
TEST_PACKAGES=(
  g++ clang-tidy-19 clang-format-19 libclang-rt-19-dev
  libgtest-dev libgmock-dev libbenchmark-dev librapidcheck-dev python3-numpy python3-yaml
  valgrind curl unzip
  qemu-user
)

say() { printf 'install_deps: %s\n' "$*"; }
die() { printf 'install_deps: %s\n' "$@" >&2; exit 1; }

check_only=no
packages=("${BUILD_PACKAGES[@]}")
for arg in "$@"; do
  case "$arg" in
    --build) ;;
    --test | --all) packages+=("${TEST_PACKAGES[@]}") ;;
    --check) check_only=yes ;;
    -h | --help) sed -n '2,11s/^# \{0,1\}//p' "$0"; exit 0 ;;
    *) die "unknown option '$arg' (see $0 --help)" ;;
  esac
done

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
  die "this script installs with apt-get, and this system has none." \
    "Install the equivalents of these Debian 12 packages by hand, then run again with" \
    "LATTICE_SKIP_DEPS=1 set:" "  ${packages[*]}"
fi

# The packages among "$@" that are not installed, one a line.
missing_of() {
  local installed
  # dpkg-query fails when it does not know one of the names: that only means "not installed".
  # shellcheck disable=SC2016  # the ${...} are dpkg-query's own
  installed=$(dpkg-query -W -f '${binary:Package} ${db:Status-Status}\n' "$@" 2>/dev/null |
    sed -n 's/^\([^: ]*\)\(:[^ ]*\)\{0,1\} installed$/\1/p') || true
  local name
  for name in "$@"; do
    grep -qxF -- "$name" <<<"$installed" || printf '%s\n' "$name"
  done
}

mapfile -t missing < <(missing_of "${packages[@]}")
if [ "${#missing[@]}" -eq 0 ]; then
  say "all ${#packages[@]} packages are already installed"
  exit 0
fi
if [ "$check_only" = yes ]; then
  die "missing: ${missing[*]}"
fi

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  if command -v sudo >/dev/null; then
    as_root=(sudo)
  else
    die "${#missing[@]} packages are missing and installing them needs root." \
      "Run this as root, or have an administrator run:" \
      "  apt-get update && apt-get install -y ${missing[*]}"
  fi
fi

export DEBIAN_FRONTEND=noninteractive
apt() {
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get \
    -o Acquire::Retries=3 -o DPkg::Lock::Timeout=120 "$@"
}

log=$(mktemp)
trap 'rm -f "$log"' EXIT
run_logged() { # run_logged WHAT COMMAND...: quiet unless it fails
  local what=$1
  shift
  if ! "$@" >"$log" 2>&1; then
    tail -n 25 "$log" >&2
    die "$what failed (its last lines are above)." \
      "Usual causes: no network or proxy set, a package source switched off in" \
      "/etc/apt/sources.list*, a release older than Debian 12, a full disk, or another apt running." \
      "Put that right and run this again; what was installed so far stays."
  fi
}

say "installing ${#missing[@]} packages: ${missing[*]}"
run_logged "apt-get update" apt update
run_logged "apt-get install" apt install -y --no-install-recommends "${missing[@]}"

mapfile -t missing < <(missing_of "${packages[@]}")
[ "${#missing[@]}" -eq 0 ] || die "apt-get reported success, yet these are missing: ${missing[*]}"
say "done"
