"""What is measured: models, shapes and names. Standard library only."""

from __future__ import annotations

import fnmatch
import math
import random
from dataclasses import dataclass, replace

LONGEST = 512
QUICK_ROWS, QUICK_TOKENS = 4, 64
REFERENCE_ROWS = 32  # whose outputs are compared with the reference


@dataclass(frozen=True)
class Workload:
    """One thing that every engine does, over and over."""

    model: str  # a key of models.MODELS
    shape: str
    kind: str  # embed, score, prefill, decode or start (a fresh process to its first vector)
    lengths: tuple[int, ...]  # tokens of each row
    output: int = 0  # tokens to generate
    reference_rows: int = REFERENCE_ROWS

    @property
    def name(self) -> str:
        return f"{self.model}/{self.shape}"

    @property
    def engine_kind(self) -> str:
        """What an engine must be able to do for it."""
        return {"start": "embed", "prefill": "generate", "decode": "generate"}.get(
            self.kind, self.kind)


def ragged(count: int, shortest: int, seed: int) -> tuple[int, ...]:
    """As many texts of each order of magnitude, both ends among them: most texts are short."""
    rng = random.Random(seed)
    low, high = math.log(shortest), math.log(LONGEST)
    inner = [round(math.exp(rng.uniform(low, high))) for _ in range(count - 2)]
    lengths = [shortest, *inner, LONGEST]
    rng.shuffle(lengths)
    return tuple(lengths)


def embed(model: str, batch: int, tokens: int, reference_rows: int = REFERENCE_ROWS) -> Workload:
    return Workload(model, f"{batch}x{tokens}", "embed", (tokens,) * batch,
                    reference_rows=reference_rows)


def encoder(model: str) -> list[Workload]:
    """The shapes of a small embedding model."""
    shapes = [(1, 16), (1, 32), (1, 128), (1, 512), (32, 128), (32, 512)]
    return [*(embed(model, *shape) for shape in shapes),
            Workload(model, "ragged", "embed", ragged(64, 8, 1)),
            Workload(model, "start", "start", (16,))]


ALL = [
    *encoder("minilm"),
    *encoder("bge-small"),
    embed("bge-base", 32, 128),
    Workload("cross", "100x128", "score", (128,) * 100),
    Workload("cross", "ragged", "score", ragged(100, 24, 2)),
    embed("qwen3-0.6b", 1, 32), embed("qwen3-0.6b", 1, 512),
    embed("qwen3-0.6b", 8, 512, reference_rows=2),
    Workload("qwen3.5-0.8b", "prefill-512", "prefill", (512,), output=1),
    Workload("qwen3.5-0.8b", "decode", "decode", (8,), output=64),
]
QUICK = "minilm/1x16,minilm/ragged,cross/ragged"


def select(patterns: str, pool: list[Workload] | None = None) -> list[Workload]:
    """The workloads that one of the comma-separated patterns (minilm/*, */32x128) names."""
    pool = ALL if pool is None else pool
    wanted = patterns.split(",")
    for pattern in wanted:
        if not any(fnmatch.fnmatch(workload.name, pattern) for workload in pool):
            names = ", ".join(workload.name for workload in pool)
            raise SystemExit(f"--workloads: {pattern} names none of {names}")
    return [workload for workload in pool
            if any(fnmatch.fnmatch(workload.name, pattern) for pattern in wanted)]


def quick(workload: Workload) -> Workload:
    """The same with the fewest rows that still differ in length, and few tokens to generate."""
    longest = QUICK_TOKENS if workload.model.startswith("qwen") else LONGEST
    lengths = tuple(min(length, longest) for length in workload.lengths[:QUICK_ROWS])
    return replace(workload, lengths=lengths, output=min(workload.output, 4))
