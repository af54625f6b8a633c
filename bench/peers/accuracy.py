"""How far an engine's outputs are from the reference's."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import numpy as np

import engines
from process import Place, Process
from workloads import Workload


def read_outputs(process: Process, path: Path) -> np.ndarray:
    shape = process.ask("outputs", path=str(path))["shape"]
    values = np.fromfile(path, np.float32).reshape(shape)
    path.unlink()
    return values


def reference(workload: Workload, work: dict, place: Place, errors: Path) -> np.ndarray:
    """PyTorch's outputs in float32, each row alone so that nothing is padded; kept in the cache."""
    count = workload.reference_rows
    rows = {**work, **{key: work[key][:count] for key in ("ids", "types", "texts")}}
    key = hashlib.sha256(json.dumps([rows["ids"], rows["types"]]).encode()).hexdigest()[:16]
    path = place.cache / f"reference-{workload.kind}-{key}.npy"
    if not path.exists():
        alone = Place(**{**vars(place), "batch_size": 1})
        with Process(engines.by_name(engines.REFERENCE), alone, errors) as process:
            process.ask("load")
            process.ask("prepare", **rows)
            np.save(path, read_outputs(process, path.with_suffix(".raw")))
    return np.load(path)


def cosines(rows: np.ndarray, truth: np.ndarray) -> np.ndarray:
    norms = np.linalg.norm(rows, axis=1) * np.linalg.norm(truth, axis=1)
    return (rows * truth).sum(1) / norms


def log_softmax(logits: np.ndarray) -> np.ndarray:
    shifted = logits - logits.max(1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(1, keepdims=True))


def compare(workload: Workload, outputs: np.ndarray, truth: np.ndarray) -> dict[str, float]:
    """Vectors: cosines and greatest difference. Scores: the cosine of all of them as one vector.
    Logits: divergence of the next token's distribution, and whether the likeliest is the same."""
    outputs, truth = (np.asarray(values, np.float64) for values in (outputs[:len(truth)], truth))
    result = {"max_abs": float(np.abs(outputs - truth).max())}
    if workload.engine_kind == "generate":
        expected, got = log_softmax(truth), log_softmax(outputs)
        divergence = (np.exp(expected) * (expected - got)).sum(1)
        return result | {"mean_kl": float(divergence.mean()), "max_kl": float(divergence.max()),
                         "top1": float((expected.argmax(1) == got.argmax(1)).mean())}
    if workload.kind == "score":
        outputs, truth = outputs.reshape(1, -1), truth.reshape(1, -1)
    found = cosines(outputs, truth)
    return result | {"min_cosine": float(found.min()), "mean_cosine": float(found.mean())}
