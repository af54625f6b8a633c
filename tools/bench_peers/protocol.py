"""The measuring protocol: canaries, interleaving, medians and quartiles."""

from __future__ import annotations

import os
import statistics
import time
from concurrent.futures import ThreadPoolExecutor

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # the canary makes its own threads

import numpy as np

CANARY_TOLERANCE = 1.05


class Canary:
    """How fast this machine is right now: GFLOP/s of a small GEMM and GB/s of a copy.

    Virtual cores change speed within seconds; a round whose canaries disagree proves nothing.
    """

    def __init__(self, threads: int) -> None:
        self.threads = threads
        self.pool = ThreadPoolExecutor(threads)
        size, elements = 256, 6 << 20
        self.gemm = [[np.ones((size, size), np.float32) for _ in range(3)] for _ in range(threads)]
        self.copy = [[np.ones(elements, np.float32) for _ in range(2)] for _ in range(threads)]

    def measure(self) -> dict[str, float]:
        def multiply(arrays) -> None:
            for _ in range(30):
                np.matmul(arrays[0], arrays[1], out=arrays[2])

        def move(arrays) -> None:
            for _ in range(3):
                np.copyto(arrays[1], arrays[0])

        return {"gflops": self._best(multiply, self.gemm, 30 * 2 * 256**3 / 1e9),
                "gbytes": self._best(move, self.copy, 3 * 2 * self.copy[0][0].nbytes / 1e9)}

    def _best(self, function, arrays, work: float) -> float:
        times = []
        for _ in range(3):
            start = time.perf_counter()
            list(self.pool.map(function, arrays))
            times.append(time.perf_counter() - start)
        return self.threads * work / min(times)


def steady(canaries: list[dict[str, float]]) -> bool:
    """Whether the canaries beside the legs of one round agree."""
    for key in ("gflops", "gbytes"):
        values = [canary[key] for canary in canaries]
        if max(values) > CANARY_TOLERANCE * min(values):
            return False
    return True


def interleave(legs: dict[str, callable], rounds: int, canary: Canary) -> list[dict]:
    """Runs the legs A B C, B C A, ... with a canary before each; one record a round.

    A leg returns the seconds of one or more runs; its value is their median.
    """
    names = list(legs)
    records = []
    for number in range(rounds):
        shift = number % len(names)
        values, canaries = {}, []
        for name in names[shift:] + names[:shift]:
            time.sleep(0.02)  # let the spinning threads of the last engine go to sleep
            canaries.append(canary.measure())
            values[name] = statistics.median(legs[name]())
        canaries.append(canary.measure())
        records.append({"seconds": values, "canaries": canaries, "steady": steady(canaries)})
    return records


def quartiles(values: list[float]) -> dict[str, float]:
    low, middle, high = np.percentile(values, [25, 50, 75])
    return {"q1": float(low), "median": float(middle), "q3": float(high)}


def summarise(records: list[dict], base: str, min_steady: int) -> dict:
    """Medians with quartiles per engine and ratios to `base` (above 1: faster than the base).

    Uses the steady rounds; all of them, marked `noisy`, when fewer than `min_steady` are.
    """
    kept = [record for record in records if record["steady"]]
    noisy = len(kept) < min_steady
    used = records if noisy else kept
    engines = {}
    for name in records[0]["seconds"]:
        own = [record["seconds"][name] for record in used]
        ratios = [record["seconds"][base] / record["seconds"][name] for record in used]
        base_median = statistics.median(record["seconds"][base] for record in used)
        engines[name] = {
            "seconds": quartiles(own),
            "ratio_of_medians": base_median / statistics.median(own),
            "median_of_ratios": quartiles(ratios),
        }
    return {"rounds": len(records), "steady_rounds": len(kept), "noisy": noisy,
            "base": base, "engines": engines}
