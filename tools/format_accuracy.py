#!/usr/bin/env python3
"""What bf16 and q8_0 change in a search: compares vectors and rankings with those of f32.

    tools/format_accuracy.py PROGRAM MODEL PASSAGES.jsonl QUERIES.jsonl

PROGRAM is the lattice program. Prints a Markdown table. Needs NumPy (tools/golden/requirements.txt).
"""

import pathlib
import subprocess
import sys
import tempfile

import numpy as np

FORMATS = ("f32", "bf16", "q8_0")


def embed(program: str, model: str, texts: str, field: str, dtype: str) -> np.ndarray:
    """The unit vectors of a JSON-lines file's texts."""
    with tempfile.TemporaryDirectory() as folder:
        output = pathlib.Path(folder) / "vectors.npy"
        subprocess.run([program, "embed", "-m", model, "--dtype", dtype, "--quiet", "--input", texts,
                        "--field", field, "--output", str(output)], check=True)
        return np.load(output)


def largest_swap(exact: np.ndarray, scores: np.ndarray) -> float:
    """The greatest lead, in f32, of a passage over another that now comes before it."""
    worst = 0.0
    for f32_row, row in zip(exact, scores):
        lead = f32_row[:, None] - f32_row[None, :]
        swapped = (lead > 0) & (row[:, None] < row[None, :])
        if swapped.any():
            worst = max(worst, float(lead[swapped].max()))
    return worst


def main() -> int:
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    program, model, passages, queries = sys.argv[1:]
    vectors = {dtype: (embed(program, model, passages, "text", dtype),
                       embed(program, model, queries, "query", dtype)) for dtype in FORMATS}
    exact = vectors["f32"][1] @ vectors["f32"][0].T
    order = np.argsort(-exact, axis=1, kind="stable")
    print("| dtype | smallest cosine | same first passage | of the first ten, the same | "
          "score off by at most | largest lead that was swapped |")
    print("|---|---|---|---|---|---|")
    for dtype in FORMATS[1:]:
        scores = vectors[dtype][1] @ vectors[dtype][0].T
        own = np.argsort(-scores, axis=1, kind="stable")
        cosine = min(float((a * b).sum(axis=1).min())
                     for a, b in zip(vectors["f32"], vectors[dtype]))
        first = float((own[:, 0] == order[:, 0]).mean())
        ten = float(np.mean([len(set(a[:10]) & set(b[:10])) / 10 for a, b in zip(own, order)]))
        print(f"| {dtype} | {cosine:.5f} | {first:.1%} | {ten:.1%} | "
              f"{np.abs(scores - exact).max():.4f} | {largest_swap(exact, scores):.4f} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
