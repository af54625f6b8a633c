"""lattice as one of the engines, through its command line.

The only place that knows the output of `lattice bench --json`: one process a leg, with

    lattice bench -m DIR --threads T --shape BxL --seconds S --warmup W --no-cache-hit --json

whose JSON object holds `load_ms`, `peak_rss_bytes` and `cases`: an array with one object per shape
holding `batch`, `tokens` and `median_ms`. The ids are its own random ones of the same shape: the
work of an encoder does not depend on which ids they are.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import time
from pathlib import Path

WARM_UP_SECONDS = 0.5


def field(value: dict, key: str):
    if not isinstance(value.get(key), (int, float)):
        raise SystemExit(f"lattice bench --json: no number {key}")
    return value[key]


def parse_bench(text: str, batch: int, length: int) -> dict:
    """Load time, median seconds of one pass over the shape, and peak RSS."""
    value = json.loads(text)
    for case in value.get("cases", []):
        if field(case, "batch") == batch and field(case, "tokens") == length:
            return {"load_s": field(value, "load_ms") / 1e3,
                    "median_s": field(case, "median_ms") / 1e3,
                    "peak_rss_bytes": field(value, "peak_rss_bytes")}
    raise SystemExit(f"lattice bench --json: no case of {batch}x{length}")


class LatticeEngine:
    def __init__(self, binary: Path, model_dir: Path, threads: int, cpus: set[int],
                 dtype: str = "f32", score: bool = False) -> None:
        self.binary, self.model_dir, self.threads, self.cpus = binary, model_dir, threads, cpus
        self.dtype, self.bench_flags = dtype, ["--score"] if score else []

    def _call(self, verb: str, *arguments: str) -> str:
        command = [str(self.binary), verb, "-m", str(self.model_dir),
                   "--threads", str(self.threads), "--dtype", self.dtype, *arguments]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False,
                              preexec_fn=lambda: os.sched_setaffinity(0, self.cpus))
        if done.returncode != 0:
            raise SystemExit(f"{' '.join(command)}: exit code {done.returncode}")
        return done.stdout

    def bench(self, batch: int, length: int, seconds: float, warm_up: float) -> dict:
        out = self._call("bench", "--shape", f"{batch}x{length}", "--seconds", str(seconds),
                         "--warmup", str(warm_up), "--no-cache-hit", "--json",
                         *self.bench_flags)
        return parse_bench(out, batch, length)

    def bench_generation(self, shape: str) -> dict:
        """One shape PROMPTxOUTPUT: prompt_ms, token_ms, read_bytes_per_s and peak_rss_bytes."""
        value = json.loads(self._call("bench", "--generate", shape, "--seconds", "0", "--json"))
        row = value["generations"][0]
        return {"prompt_ms": field(row, "prompt_ms"), "token_ms": field(row, "token_ms"),
                "read_bytes_per_s": field(value, "read_bytes_per_s"),
                "peak_rss_bytes": field(value, "peak_rss_bytes")}

    def leg(self, batch: int, length: int, seconds: float):
        """A leg for protocol.interleave."""
        return lambda: [self.bench(batch, length, seconds, WARM_UP_SECONDS)["median_s"]]

    def fresh(self, text: str, short: tuple[int, int], batch: tuple[int, int]) -> dict:
        """Load time, cold start and memory, from processes that did nothing else."""
        start = time.perf_counter()
        self._call("embed", "--format", "jsonl", text)
        cold_s = time.perf_counter() - start
        one, many = self.bench(*short, 0, 0), self.bench(*batch, 0, 0)
        return {"load_s": one["load_s"], "cold_first_vector_s": cold_s,
                "rss_one_text_bytes": one["peak_rss_bytes"],
                "rss_batch_bytes": many["peak_rss_bytes"]}

    def embed(self, texts: list[str]) -> list[list[float]]:
        """Vectors of the texts, cut at the model's limit as the other engines cut."""
        with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as file:
            file.writelines(json.dumps({"text": text}) + "\n" for text in texts)
            file.flush()
            out = self._call("embed", "--input", file.name, "--truncate", "end",
                             "--format", "jsonl")
        return [json.loads(line)["embedding"] for line in out.splitlines()]
