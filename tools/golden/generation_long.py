"""Goldens of long prompts: tests/golden/generation/long/golden.{json,safetensors}.

    python generation_long.py

The logits of the variant "tied" at the last position of 1,024, 4,096 and 16,384 tokens, in
float64 token by token: how far an engine's error grows. Prints how far the library in float32,
with its chunks of 64, is from them.
"""

from __future__ import annotations

import numpy as np

from common import FORMAT, provenance, write_json, write_safetensors
from generation import GENERATION, NUM_IDS, TOLERANCE
from long_prompt import RECIPE, long_prompt
from qwen3_5_oracle import Oracle

VARIANT = "tied"
LENGTHS = [1024, 4096, 16384]
MAX_F32_LENGTH = 4096  # the library's score matrix of 16,384 tokens does not fit


def main() -> None:
    oracle = Oracle(GENERATION / VARIANT)
    single = Oracle(GENERATION / VARIANT, double=False)
    rows = []
    for length in LENGTHS:
        ids = long_prompt(length, NUM_IDS)
        logits = oracle.head(oracle.hidden(ids)[-1])
        rows.append(logits.numpy())
        if length <= MAX_F32_LENGTH:
            difference = (single.head(single.hidden(ids)[-1]) - logits).abs().max()
            print(f"{length:6} tokens: f32-f64 {float(difference):.1e}", flush=True)
    out = GENERATION / "long"
    write_json(out / "golden.json", {
        "format": FORMAT, "provenance": provenance("python tools/golden/generation_long.py"),
        "variant": VARIANT, "lengths": LENGTHS, "recipe": RECIPE, "num_ids": NUM_IDS,
        "tolerance": TOLERANCE["qwen3_5"]})
    write_safetensors(out / "golden.safetensors", {"logits": np.stack(rows)})


if __name__ == "__main__":
    main()
