"""What every engine's adapter does."""

from __future__ import annotations

import shutil
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any


TASKS = {"embed": "embeddings", "score": "rerankers", "generate": "text generation, if it has any"}


class Unsupported(Exception):
    """Why an engine cannot do a workload; shown in the report."""


@dataclass(frozen=True)
class Setting:
    """What an adapter is made for."""

    variant: str  # the arithmetic: fp32, int8, ...
    model_dir: Path
    kind: str  # embed, score or generate
    threads: int
    cache: Path  # for exported models; named after the weights
    batch_size: int


class Engine:
    """One library with one model, in a process of its own.

    The worker calls export() in a first process, and in a second one load(), prepare() and then
    timed() over and over.
    """

    kinds: tuple[str, ...] = ("embed", "score")

    def __init__(self, setting: Setting) -> None:
        self.setting = setting
        if setting.kind not in self.kinds:
            raise Unsupported(f"no adapter here for its {TASKS[setting.kind]}")

    def export(self) -> None:
        """Writes the model in the library's own format, if it has one and it is not there yet."""

    def load(self) -> str:
        """Makes the library ready; returns what is worth knowing about how it computes."""
        raise NotImplementedError

    def prepare(self, work: dict) -> None:
        """Takes the rows as the library likes them best. Not measured."""
        raise NotImplementedError

    def run(self) -> Any:
        """One pass over the rows: vectors [rows, dimensions] or logits [rows, labels]."""
        raise NotImplementedError

    def timed(self) -> float:
        """The seconds of one run that count."""
        start = time.perf_counter()
        self.run()
        return time.perf_counter() - start

    def outputs(self) -> Any:
        """What the accuracy is measured on."""
        return self.run()


def remove(path: Path) -> None:
    """A file or directory that need not be there."""
    if path.is_dir():
        shutil.rmtree(path)
    path.unlink(missing_ok=True)


def once(path: Path, make) -> Path:
    """`path` (a file or directory), made by make(partial) unless it is there: never half of it."""
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_name(f"partial-{path.name}")
        remove(partial)  # of a run that was ended meanwhile
        make(partial)
        partial.rename(path)
    return path
