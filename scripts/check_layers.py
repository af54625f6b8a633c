#!/usr/bin/env python3
"""Checks that no source file includes a layer above its own.

    scripts/check_layers.py [ROOT]

The layers, lowest first:

    base <- tensor <- {io, ops} <- layers <- models <- engine <- {server, apps, python}

text uses base and io only. backends/NAME implement ops: they see base, tensor, ops and their own
folder, never another backend. Only the registry of backends sees backends, and only tests see
backends/metal/simt, which executes Metal kernels for them. Public headers in
include/lattice see the standard library and one another; examples see no private header.
Prints one line per offending include and exits 1 if there is any.
"""

import pathlib
import re
import sys

# layer -> the layers it may include besides itself
ALLOWED = {
    "base": set(),
    "tensor": {"base"},
    "io": {"base", "tensor"},
    "ops": {"base", "tensor"},
    "text": {"base", "io"},
    "backends": {"base", "tensor", "ops"},
    "layers": {"base", "tensor", "io", "ops"},
    "models": {"base", "tensor", "io", "ops", "layers"},
    "engine": {"base", "tensor", "io", "ops", "layers", "models", "text"},
}
_BELOW_ADAPTERS = set(ALLOWED) - {"backends"}
ALLOWED["server"] = _BELOW_ADAPTERS
ALLOWED["apps"] = _BELOW_ADAPTERS | {"server"}
ALLOWED["python"] = _BELOW_ADAPTERS

# Where each layer's files are.
FOLDERS = {f"src/{layer}": layer for layer in ALLOWED} | {"apps": "apps", "python": "python"}

# The only file that may include a backend's header, and the header through which the engine and the
# adapters ask it for a backend by name.
REGISTRY_FILES = {"src/backends/backend_rows.cc", "src/backends/registry.cc"}
REGISTRY_HEADER = "src/backends/registry.h"
MAY_ASK_REGISTRY = {"engine", "server", "apps", "python"}

# What only tests use; it is no part of the library.
INSTRUMENT = "src/backends/metal/simt/"

# Public headers are the engine's interface, except these, which lower layers share or implement.
PUBLIC_LAYER = {
    "lattice/error.h": "base",
    "lattice/export.h": "base",
    "lattice/result.h": "base",
    "lattice/version.h": "base",
    "lattice/config.h": "io",
    "lattice/chat_message.h": "text",
    "lattice/tokenizer.h": "text",
}

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^">]+)[">]', re.MULTILINE)
SOURCE_SUFFIXES = {".h", ".cc", ".cuh", ".cu", ".mm", ".metal", ".inc"}

# Headers of the C++ standard library have no extension; C's are wrapped as <cstdint> and the like.
STANDARD_HEADER = re.compile(r"^[a-z_]+$")


def layer_of(path: str) -> str | None:
    """The layer that the repository file `path` belongs to, or None for tests, tools and the like."""
    for folder, layer in FOLDERS.items():
        if path.startswith(folder + "/"):
            return layer
    return None


def backend_of(path: str) -> str | None:
    """cpu for src/backends/cpu/gemm.cc; None for files directly in src/backends."""
    parts = path.split("/")
    return parts[2] if path.startswith("src/backends/") and len(parts) > 3 else None


def resolve(root: pathlib.Path, includer: str, target: str) -> str | None:
    """The repository file that `#include target` in `includer` means, or None if it is foreign."""
    for base in (pathlib.Path(includer).parent, pathlib.Path("src"), pathlib.Path("include"),
                 pathlib.Path("")):
        candidate = root / base / target
        if candidate.is_file():
            return candidate.resolve().relative_to(root.resolve()).as_posix()
    first = target.split("/")[0]  # a file that does not exist (yet, or is generated)
    if first == "lattice":
        return "include/" + target
    return "src/" + target if first in ALLOWED and "/" in target else None


def check_public(path: str, target: str, bracket: str, resolved: str | None) -> str | None:
    """What is wrong with an include in a public header or an example."""
    example = path.startswith("examples/")
    if resolved is not None:
        public = resolved.startswith("include/lattice/") or (
            example and resolved.startswith("examples/"))
        return None if public else "includes a private header"
    if not example and (bracket == '"' or not STANDARD_HEADER.match(target)):
        return "includes something other than the standard library and lattice/"
    return None


def check_backend(path: str, resolved: str) -> str | None:
    """What is wrong with an include of a file in src/backends."""
    if resolved.startswith(INSTRUMENT) and not path.startswith(INSTRUMENT):
        return "sees an instrument of the tests"
    if path in REGISTRY_FILES:
        return None
    if resolved == REGISTRY_HEADER and layer_of(path) in MAY_ASK_REGISTRY:
        return None
    if layer_of(path) != "backends":
        return "sees a backend; only the registry may"
    own, other = backend_of(path), backend_of(resolved)
    if other is not None and other != own:
        return f"is in backend {own or '(common)'} and includes backend {other}"
    return None


def check_include(root: pathlib.Path, path: str, bracket: str, target: str) -> str | None:
    """What is wrong with one include, or None."""
    resolved = resolve(root, path, target)
    if path.startswith(("include/lattice/", "examples/")):
        return check_public(path, target, bracket, resolved)
    layer = layer_of(path)
    if layer is None:
        return None
    if resolved is None:
        return None  # another project's header, in either kind of brackets
    if resolved.startswith("src/backends/"):
        return check_backend(path, resolved)
    if resolved.startswith("include/"):
        other = PUBLIC_LAYER.get(resolved.removeprefix("include/"), "engine")
    else:
        other = layer_of(resolved)
    if other is None:
        return "is library code and includes a file outside the library"
    if other != layer and other not in ALLOWED[layer]:
        return f"is in layer {layer}, which may not include layer {other}"
    return None


def source_files(root: pathlib.Path):
    """Every C++ file that has a layer or is public, as paths relative to root."""
    for top in ("src", "apps", "python", "include", "examples"):
        for file in sorted((root / top).rglob("*")):
            if file.suffix in SOURCE_SUFFIXES and file.is_file():
                yield file.relative_to(root).as_posix()


def check(root: pathlib.Path) -> tuple[list[str], int]:
    """All offences under root as printable lines, and the number of files looked at."""
    offences, count = [], 0
    for path in source_files(root):
        count += 1
        text = (root / path).read_text(encoding="utf-8")
        for match in INCLUDE.finditer(text):
            problem = check_include(root, path, match[1], match[2])
            if problem:
                line = text.count("\n", 0, match.start(1)) + 1
                offences.append(f'{path}:{line}: #include "{match[2]}": {path} {problem}')
    return offences, count


def main() -> int:
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent)
    offences, count = check(root)
    for line in offences:
        print(line)
    if count == 0:
        print(f"check_layers: no source file found under {root}: wrong folder?")
        return 1
    print(f"check_layers: {count} files, {len(offences)} offences")
    return 1 if offences else 0


if __name__ == "__main__":
    sys.exit(main())
