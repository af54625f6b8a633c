"""Golden of one very long sequence: tests/golden/long/qwen3.json.

    python long_context.py

The tiny model qwen3-base over 32,768 token ids, id i being (7919 i + 13) mod 300: the pooled,
normalized vector of the last token, by transformers in float32 (its attention in blocks, as a
score matrix of that size would not fit).
"""

from __future__ import annotations

import torch
import transformers

from common import GOLDEN_DIR, provenance, write_json

NUM_TOKENS = 32768
NUM_IDS = 300


def main() -> None:
    torch.set_num_threads(1)
    model = transformers.AutoModel.from_pretrained(
        str(GOLDEN_DIR / "tiny" / "qwen3-base"), attn_implementation="sdpa",
        dtype=torch.float32).eval()
    ids = torch.tensor([[(7919 * i + 13) % NUM_IDS for i in range(NUM_TOKENS)]])
    vectors = {}
    with torch.inference_mode():
        for count in (1000, 8192, NUM_TOKENS):
            hidden = model(input_ids=ids[:, :count]).last_hidden_state[0, -1]
            vectors[str(count)] = torch.nn.functional.normalize(hidden, dim=0).tolist()
    out = GOLDEN_DIR / "long" / "qwen3.json"
    out.parent.mkdir(exist_ok=True)
    write_json(out, {"format": 1, "provenance": provenance("python tools/golden/long_context.py"),
                     "model": "tiny/qwen3-base", "vectors": vectors}, indent=1)


if __name__ == "__main__":
    main()
