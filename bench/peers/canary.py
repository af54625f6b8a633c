"""How fast this machine is right now."""

from __future__ import annotations

import os
import time
from concurrent.futures import ThreadPoolExecutor

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # a canary makes its own threads

import numpy as np  # noqa: E402

SIDE = 256  # three matrices of this side stay in the second cache level
GEMMS = 30
ELEMENTS = 12 << 20  # two vectors of 48 MiB: far more than the last cache level
PASSES = 3  # of which the best counts: a canary asks what the machine can, not what it did


class Canaries:
    """GFLOP/s of a small matrix product, and GB/s of reading, on so many threads together."""

    def __init__(self, threads: int) -> None:
        self.threads = threads
        self.pool = ThreadPoolExecutor(threads)
        self.matrices = [[np.ones((SIDE, SIDE), np.float32) for _ in range(3)]
                         for _ in range(threads)]
        self.vectors = [[np.ones(ELEMENTS, np.float32) for _ in range(2)] for _ in range(threads)]

    def measure(self) -> dict[str, float]:
        def multiply(arrays: list[np.ndarray]) -> None:
            for _ in range(GEMMS):
                np.matmul(arrays[0], arrays[1], out=arrays[2])

        def read(arrays: list[np.ndarray]) -> None:
            np.dot(arrays[0], arrays[1])

        return {"gflops": self._best(multiply, self.matrices, GEMMS * 2 * SIDE**3 / 1e9),
                "read_gbytes": self._best(read, self.vectors, 2 * ELEMENTS * 4 / 1e9)}

    def _best(self, function, arrays: list, work: float) -> float:
        times = []
        for _ in range(PASSES):
            start = time.perf_counter()
            list(self.pool.map(function, arrays))
            times.append(time.perf_counter() - start)
        return self.threads * work / min(times)
