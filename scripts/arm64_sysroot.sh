#!/usr/bin/env bash
# Makes the sysroot that the arm64 preset compiles against and that qemu runs its programs in.
#
#   scripts/arm64_sysroot.sh         into build/arm64-sysroot, or $LATTICE_ARM64_SYSROOT
#
# Downloads the arm64 packages of this system's Debian sources, with everything they depend on, and
# unpacks them: nothing is installed, apt's and dpkg's state is not touched, and root is not needed.
# (Installed side by side, several of them would replace their amd64 twins.) Does nothing, at once,
# when the sysroot is there and made from the same list of packages.
set -euo pipefail
cd "$(dirname "$0")/.."

# The libraries among install_deps.sh's packages, and the C++ ones that a compiler brings along.
PACKAGES=(
  libc6-dev libstdc++-12-dev libgcc-12-dev
  libhwy-dev libsimdjson-dev libexpected-dev libfmt-dev libutf8proc-dev libpcre2-dev
  libxxhash-dev libcli11-dev libcurl4-openssl-dev libssl-dev
  libgtest-dev libgmock-dev librapidcheck-dev
)

sysroot=$(realpath -m "${LATTICE_ARM64_SYSROOT:-build/arm64-sysroot}")
stamp="$sysroot/.packages"

say() { printf 'arm64_sysroot: %s\n' "$*"; }
die() { printf 'arm64_sysroot: %s\n' "$@" >&2; exit 1; }

case "${1:-}" in
  '') ;;
  -h | --help) sed -n '2,10s/^# \{0,1\}//p' "$0"; exit 0 ;;
  *) die "unknown option '$1' (see $0 --help)" ;;
esac
if [ -f "$stamp" ] && [ "$(cat "$stamp")" = "${PACKAGES[*]}" ]; then
  exit 0
fi
if ! command -v apt-get >/dev/null || ! command -v dpkg-deb >/dev/null; then
  die "this script needs apt-get and dpkg-deb, and this system lacks them"
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
log="$work/log"
mkdir -p "$work"/{state/lists/partial,cache/archives/partial,unpacked}
: >"$work/state/status" # no package is installed: the whole closure is downloaded

# An apt of its own for arm64, which shares this system's sources and keys alone.
arm64_apt() {
  apt-get -o APT::Architecture=arm64 -o APT::Architectures::=arm64 \
    -o Dir::State="$work/state" -o Dir::State::status="$work/state/status" \
    -o Dir::Cache="$work/cache" -o APT::Sandbox::User= -o Debug::NoLocking=true \
    -o Acquire::Languages=none -o Acquire::Retries=3 "$@"
}
run_logged() { # run_logged WHAT COMMAND...: quiet unless it fails
  local what=$1
  shift
  if ! "$@" >"$log" 2>&1; then
    tail -n 25 "$log" >&2
    die "$what failed (its last lines are above)." \
      "Usual causes: no network, sources that do not carry arm64, a full disk."
  fi
}

say "downloading ${#PACKAGES[@]} arm64 packages and what they need"
run_logged "apt-get update" arm64_apt update
run_logged "apt-get download" arm64_apt install --download-only -y --no-install-recommends \
  "${PACKAGES[@]}"
for package in "$work"/cache/archives/*.deb; do
  run_logged "unpacking $package" dpkg-deb -x "$package" "$work/unpacked"
done
# Links to absolute paths mean files of the sysroot.
find "$work/unpacked" -type l -lname '/*' -printf '%P\t%l\n' | while IFS=$'\t' read -r link target; do
  ln -sfnr "$work/unpacked$target" "$work/unpacked/$link"
done

rm -rf "$sysroot"
mkdir -p "$(dirname "$sysroot")"
mv "$work/unpacked" "$sysroot"
printf '%s' "${PACKAGES[*]}" >"$stamp"
say "done: $sysroot"
