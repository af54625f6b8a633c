"""One engine in one process, told what to do by JSON lines on standard input.

    python worker.py ENGINE MODEL_DIR KIND THREADS CACHE BATCH_SIZE

The lines are those of bench/peer_worker.cc, which is lattice's worker, and {"op": "export"}. An
answer {"error": "..."} says why a command could not be carried out.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import time
from pathlib import Path

import engines
from engines.base import Engine, Setting


def make_engine(arguments: list[str]) -> Engine:
    name, model_dir, kind, threads, cache, batch_size = arguments
    spec = engines.by_name(name)
    setting = Setting(spec.variant, Path(model_dir), kind, int(threads), Path(cache),
                      int(batch_size))
    return getattr(importlib.import_module(f"engines.{spec.module}"), spec.adapter)(setting)


class Worker:
    """Answers one command after the other."""

    def __init__(self, arguments: list[str]) -> None:
        self.arguments = arguments
        self.engine: Engine | None = None

    def answer(self, command: dict) -> dict:
        if command["op"] == "export":
            make_engine(self.arguments).export()
            return {}
        if command["op"] == "load":
            start = time.perf_counter()
            self.engine = make_engine(self.arguments)
            detail = self.engine.load()
            return {"load_s": time.perf_counter() - start, "detail": detail}
        if command["op"] == "prepare":
            self.engine.prepare(command)
            return {}
        if command["op"] == "run":
            return {"seconds": self.run(command["seconds"], command["warm_up"])}
        if command["op"] == "outputs":
            return {"shape": self.write_outputs(command["path"])}
        raise ValueError(f"unknown op {command['op']}")

    def run(self, seconds: float, warm_up: float) -> list[float]:
        """Runs until so many seconds have passed, at least once."""
        end = time.perf_counter() + warm_up
        while time.perf_counter() < end:
            self.engine.timed()
        end, times = time.perf_counter() + seconds, []
        while not times or time.perf_counter() < end:
            times.append(self.engine.timed())
        return times

    def write_outputs(self, path: str) -> list[int]:
        import numpy as np

        outputs = np.ascontiguousarray(self.engine.outputs(), dtype=np.float32)
        outputs.tofile(path)
        return list(outputs.shape)


def main() -> None:
    # Nothing but answers on standard output, whatever a library prints there.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    worker = Worker(sys.argv[1:])
    for line in sys.stdin:
        try:
            answer = worker.answer(json.loads(line))
        except (Exception, SystemExit) as error:  # any reason belongs into the report
            text = str(error).strip() or type(error).__name__
            answer = {"error": text.splitlines()[0][:200]}
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
