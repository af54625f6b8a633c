"""Goldens of real models: ids, embeddings and rankings by sentence-transformers in float32.

    python real.py MODEL_DIR [--name all-MiniLM-L6-v2]

Writes tests/golden/real/<name>/golden.{json,safetensors} for the texts of tests/golden/texts.jsonl.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from pathlib import Path

import numpy as np

from common import (FORMAT, GOLDEN_DIR, full_length, load_oracle, provenance, write_golden_json,
                    write_safetensors)

NUM_QUERIES = 20
TOP = 5
MIN_GAP = 1e-4


def rankings(ids: list[list[int]], embeddings: np.ndarray) -> list[dict]:
    """Top texts by cosine for the first texts, cut before the first near-tie.

    Texts whose ids repeat an earlier text's are left out of the ranking (they would tie exactly).
    """
    vectors = embeddings.astype(np.float64)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    seen: set[tuple[int, ...]] = set()
    candidates = []
    for index, row in enumerate(ids):
        if tuple(row) not in seen:
            candidates.append(index)
            seen.add(tuple(row))
    out = []
    for query in range(NUM_QUERIES):
        scores = vectors @ vectors[query]
        order = sorted((i for i in candidates if i != query), key=lambda i: (-scores[i], i))
        top = order[:TOP]
        for rank in range(len(top)):
            if scores[order[rank]] - scores[order[rank + 1]] < MIN_GAP:
                top = top[:rank]
                break
        out.append({"query": query, "top": top, "scores": [float(scores[i]) for i in top]})
    return out


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model_dir", type=Path)
    parser.add_argument("--name")
    args = parser.parse_args()
    name = args.name or args.model_dir.resolve().name
    lines = (GOLDEN_DIR / "texts.jsonl").read_bytes().decode().splitlines()
    texts = [json.loads(line)["text"] for line in lines]
    model = load_oracle(args.model_dir, double=False)

    cases, ids, rows = [], [], []
    for text in texts:
        features = model.preprocess([text])
        ids.append(features["input_ids"][0].tolist())
        rows.append(model.encode([text], batch_size=1, show_progress_bar=False)[0])
        length = full_length(model, text)
        cases.append({"tokens": length, "truncated": length > len(ids[-1]), "ids": ids[-1]})
    embeddings = np.stack(rows)
    assert embeddings.dtype == np.float32

    weights = (args.model_dir / "model.safetensors").read_bytes()
    head = {
        "format": FORMAT,
        "provenance": provenance(f"python tools/golden/real.py models/{name}"),
        "model": name,
        "weights_sha256": hashlib.sha256(weights).hexdigest(),
        "max_seq_length": model.max_seq_length,
        "texts": "tests/golden/texts.jsonl",
        "tolerance": 1e-5,
        "min_cosine": 0.99999,
    }
    target = GOLDEN_DIR / "real" / name
    write_golden_json(target / "golden.json", head, cases, {"rankings": rankings(ids, embeddings)})
    write_safetensors(target / "golden.safetensors", {"embedding": embeddings})
    print(f"{name}: {len(texts)} texts, {sum(c['truncated'] for c in cases)} truncated, "
          f"max_seq_length {model.max_seq_length}, dim {embeddings.shape[1]}")


if __name__ == "__main__":
    main()
