"""Shared parts of the golden generators: determinism, oracle loading, file writing."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
os.environ.setdefault("RAYON_NUM_THREADS", "1")
os.environ.setdefault("HF_HUB_OFFLINE", "1")

import numpy as np
import safetensors
import sentence_transformers
import tokenizers
import torch
import transformers
from safetensors.numpy import save as safetensors_bytes
from sentence_transformers import SentenceTransformer

REPO = Path(__file__).resolve().parents[2]
GOLDEN_DIR = REPO / "tests" / "golden"
FORMAT = 1

torch.set_num_threads(1)
torch.use_deterministic_algorithms(True)
transformers.logging.set_verbosity_error()
transformers.logging.disable_progress_bar()


def provenance(command: str, seed: int | None = None, **extra) -> dict:
    """What a reader needs to make the same file again; goes into every golden.json."""
    record = {
        "command": command,
        "versions": {
            "python": "{}.{}".format(*sys.version_info[:2]),
            "torch": torch.__version__.split("+")[0],
            "transformers": transformers.__version__,
            "sentence_transformers": sentence_transformers.__version__,
            "tokenizers": tokenizers.__version__,
            "safetensors": safetensors.__version__,
            "numpy": np.__version__,
        },
        "seed": seed,
    }
    record.update(extra)
    return record


def write_if_changed(path: Path, data: bytes) -> bool:
    """Writes a file, leaving an identical one alone so that its time stamp tells the truth."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.exists() and path.read_bytes() == data:
        return False
    path.write_bytes(data)
    return True


def write_json(path: Path, value, indent: int | None = 2) -> bool:
    text = json.dumps(value, indent=indent, ensure_ascii=True)
    return write_if_changed(path, (text + "\n").encode())


def read_json(path: Path):
    return json.loads(path.read_text(encoding="utf-8"))


def write_golden_json(path: Path, head: dict, cases: list[dict], tail: dict | None = None) -> bool:
    """golden.json with one case a line, so that a changed case is a one-line difference."""
    lines = ["{"]
    for key, value in head.items():
        lines.append(f"  {json.dumps(key)}: {json.dumps(value)},")
    for key, value in (tail or {}).items():
        rows = ",\n".join("    " + json.dumps(row) for row in value)
        lines.append(f"  {json.dumps(key)}: [\n{rows}\n  ],")
    rows = ",\n".join("    " + json.dumps(case) for case in cases)
    lines.append(f'  "cases": [\n{rows}\n  ]\n}}\n')
    return write_if_changed(path, "\n".join(lines).encode())


def write_safetensors(path: Path, tensors: dict[str, np.ndarray]) -> bool:
    contiguous = {name: np.ascontiguousarray(tensors[name]) for name in sorted(tensors)}
    return write_if_changed(path, safetensors_bytes(contiguous))


def load_oracle(directory: Path, double: bool) -> SentenceTransformer:
    """sentence-transformers on CPU, eager attention; `double` upcasts every parameter to float64.

    Half-precision files are read as float32 first, which is exact.
    """
    model = SentenceTransformer(
        str(directory),
        device="cpu",
        local_files_only=True,
        model_kwargs={"attn_implementation": "eager", "dtype": torch.float32},
    )
    model.eval()
    return model.double() if double else model


def full_length(model: SentenceTransformer, text: str, pair: str | None = None) -> int:
    """Tokens with special tokens and without any truncation."""
    backend = tokenizers.Tokenizer.from_str(model.tokenizer.backend_tokenizer.to_str())
    backend.no_truncation()
    backend.no_padding()
    return len(backend.encode(text, pair).ids)
