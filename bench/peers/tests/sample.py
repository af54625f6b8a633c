"""A results file as a run would write it."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))
import protocol  # noqa: E402

CANARY = {"gflops": 100.0, "read_gbytes": 20.0}
COSINES = {"accuracy": {"min_cosine": 0.99991, "mean_cosine": 0.99995, "max_abs": 1.5e-3}}


def measurement(workload, seconds, kind="embed", rows=32, **more):
    """One workload on two threads; `seconds` by engine, the first of them is the base."""
    order = list(seconds)
    records = [{"order": order, "seconds": seconds, "canaries": [CANARY] * (len(order) + 1)}] * 6
    detail = {"load_s": 0.1, "peak_rss_bytes": 64 << 20} if kind == "start" else COSINES
    engines = {name: {**detail, **protocol.compare(records, name, order[0])} for name in order}
    return {"workload": workload, "kind": kind, "threads": 2, "tokens": rows * 128, "rows": rows,
            "base": order[0], "batch_size": 32, "rounds_wanted": 6, "rounds": 6,
            "engines": engines, "unavailable": {}, "records": records, "matrix_elements": 1000,
            **more}


def results(*measurements):
    machine = {"cpu": "A <CPU> & more", "flags": ["avx2"], "usable_cpus": 2, "kernel": "6.1",
               "python": "3.11", "versions": {"onnxruntime": "1.0"}, "lattice": "abc"}
    return {"format": 2, "machine": machine, "command": ["--threads", "2"], "quick": False,
            "measurements": list(measurements)}
