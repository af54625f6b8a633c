"""The tensors of a Hugging Face directory as float32 arrays, with NumPy alone.

NumPy has no bfloat16, and the interpreter that writes GGUF files need not have PyTorch: the files
are mapped and one tensor at a time is widened.
"""

from __future__ import annotations

import dataclasses
import json
import struct
from pathlib import Path
from typing import Iterator

import numpy as np

STORED = {"F32": "<f4", "F16": "<f2", "BF16": "<u2"}


@dataclasses.dataclass(frozen=True)
class Entry:
    """Where one tensor lies."""

    file: Path
    dtype: str
    shape: tuple[int, ...]
    offset: int


def read_header(file: Path) -> dict[str, Entry]:
    with file.open("rb") as stream:
        (length,) = struct.unpack("<Q", stream.read(8))
        header = json.loads(stream.read(length))
    header.pop("__metadata__", None)
    return {name: Entry(file, value["dtype"], tuple(value["shape"]),
                        8 + length + value["data_offsets"][0]) for name, value in header.items()}


class HfWeights:
    """All tensors of a directory, in one file or in shards."""

    def __init__(self, directory: Path) -> None:
        index = directory / "model.safetensors.index.json"
        names = (sorted(set(json.loads(index.read_text())["weight_map"].values()))
                 if index.exists() else ["model.safetensors"])
        self.entries: dict[str, Entry] = {}
        for name in names:
            self.entries |= read_header(directory / name)

    def __iter__(self) -> Iterator[str]:
        return iter(self.entries)

    def read(self, name: str) -> np.ndarray:
        entry = self.entries[name]
        if entry.dtype not in STORED:
            raise SystemExit(f"{entry.file}: {name}: dtype {entry.dtype} is not read here")
        stored = np.memmap(entry.file, STORED[entry.dtype], "r", entry.offset, entry.shape)
        if entry.dtype == "BF16":
            return (stored.astype(np.uint32) << 16).view(np.float32)
        return np.array(stored, np.float32)
