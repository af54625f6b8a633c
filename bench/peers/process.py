"""An engine's process, from the outside."""

from __future__ import annotations

import json
import os
import subprocess
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from engines import Spec


class EngineFailed(Exception):
    """Which engine cannot do what it was told, and why."""

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(reason)
        self.name = name


@dataclass(frozen=True)
class Place:
    """What all engines of one measurement share."""

    model_dir: Path
    kind: str
    threads: int
    cache: Path
    batch_size: int
    lattice: Path
    cpus: frozenset[int]


def environment(threads: int) -> dict[str, str]:
    """The number of threads for every library that reads it, and no way to the hub."""
    count = str(threads)
    return {**os.environ, "OMP_NUM_THREADS": count, "MKL_NUM_THREADS": count,
            "OPENBLAS_NUM_THREADS": count, "RAYON_NUM_THREADS": count,
            "TOKENIZERS_PARALLELISM": "true" if threads > 1 else "false",
            "HF_HUB_OFFLINE": "1", "CUDA_VISIBLE_DEVICES": ""}


class Process:
    """A worker pinned to the CPUs of this measurement. Use with `with`."""

    def __init__(self, spec: Spec, place: Place, errors: Path) -> None:
        self.spec, self.errors = spec, errors
        with open(errors, "a") as log:
            self.process = subprocess.Popen(
                spec.command(asdict(place)), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                stderr=log, text=True, env=environment(place.threads),
                preexec_fn=lambda: os.sched_setaffinity(0, place.cpus))

    def __enter__(self) -> Process:
        return self

    def __exit__(self, *_) -> None:
        self.close()

    def ask(self, op: str, **arguments) -> dict:
        try:
            self.process.stdin.write(json.dumps({"op": op, **arguments}) + "\n")
            self.process.stdin.flush()
            line = self.process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            raise EngineFailed(self.spec.name, f"its process ended with code "
                               f"{self.process.wait()}: {self._last_error()}")
        answer = json.loads(line)
        if "error" in answer:
            raise EngineFailed(self.spec.name, answer["error"])
        return answer

    def peak_rss_bytes(self) -> int:
        """Of the process alone; getrusage() would count what it had of us before its exec."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        line = next(line for line in status.splitlines() if line.startswith("VmHWM:"))
        return int(line.split()[1]) * 1024

    def _last_error(self) -> str:
        lines = self.errors.read_text(errors="replace").splitlines()
        return lines[-1][:200] if lines else "without a word"

    def close(self) -> None:
        try:
            self.process.stdin.close()
        except BrokenPipeError:
            pass
        self.process.wait()


def fresh_start(spec: Spec, place: Place, work: dict, errors: Path) -> dict:
    """From nothing to the first vector: seconds, those of loading, and peak memory."""
    start = time.perf_counter()
    with Process(spec, place, errors) as process:
        load_s = process.ask("load")["load_s"]
        process.ask("prepare", **work)
        process.ask("run", seconds=0, warm_up=0)
        seconds = time.perf_counter() - start
        return {"seconds": seconds, "load_s": load_s, "peak_rss_bytes": process.peak_rss_bytes()}
