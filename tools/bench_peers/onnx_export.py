"""Exports the encoder of a BERT-family directory to ONNX and fuses it for ONNX Runtime.

    python onnx_export.py MODEL_DIR OUT.onnx [--logits]

With --logits the whole sequence classifier, else the encoder.

The graph is optimised with ONNX Runtime's own transformer tool (fused attention, GELU and
LayerNorm), which is how the peer is fastest, and checked against PyTorch on two other shapes.
"""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path

INPUTS = ("input_ids", "attention_mask", "token_type_ids")
MAX_DIFFERENCE = 1e-4


def export(model_dir: Path, out: Path, logits: bool = False) -> None:
    import torch
    import transformers

    kind = transformers.AutoModelForSequenceClassification if logits else transformers.AutoModel
    model = kind.from_pretrained(
        str(model_dir), attn_implementation="eager", dtype=torch.float32).eval()

    class Encoder(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.model = model

        def forward(self, input_ids, attention_mask, token_type_ids):
            return self.model(input_ids=input_ids, attention_mask=attention_mask,
                              token_type_ids=token_type_ids, return_dict=False)[0]

    # The exporter puts back the mode of what it is given: in training mode, dropout would be on.
    encoder = Encoder().eval()
    ids = torch.full((2, 8), 5, dtype=torch.long)
    example = (ids, torch.ones_like(ids), torch.zeros_like(ids))
    axes = {name: {0: "batch", 1: "length"} for name in (*INPUTS, "last_hidden_state")}
    if logits:
        axes["last_hidden_state"] = {0: "batch"}
    raw = out.with_suffix(".raw.onnx")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(encoder, example, str(raw), input_names=list(INPUTS),
                          output_names=["last_hidden_state"], dynamic_axes=axes,
                          opset_version=17, dynamo=False)
    fuse(raw, out, model.config)
    raw.unlink()
    check(out, encoder, model.config.vocab_size)


def fuse(raw: Path, out: Path, config) -> None:
    from onnxruntime.transformers import optimizer

    fused = optimizer.optimize_model(str(raw), model_type="bert", opt_level=1,
                                     num_heads=config.num_attention_heads,
                                     hidden_size=config.hidden_size)
    counts = fused.get_fused_operator_statistics()
    print("fused:", {name: count for name, count in counts.items() if count}, file=sys.stderr)
    if counts.get("Attention", 0) + counts.get("MultiHeadAttention", 0) == 0:
        print("warning: attention was not fused: this peer is slower than it can be",
              file=sys.stderr)
    partial = out.with_suffix(".partial.onnx")
    fused.save_model_to_file(str(partial))
    os.replace(partial, out)


def check(path: Path, encoder, vocab_size: int) -> None:
    """The exported graph gives PyTorch's values on shapes that it was not traced with."""
    import numpy as np
    import onnxruntime
    import torch

    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    names = {value.name for value in session.get_inputs()}
    for batch, length in ((1, 16), (3, 37)):
        generator = torch.Generator().manual_seed(length)
        ids = torch.randint(5, vocab_size, (batch, length), generator=generator)
        tensors = (ids, torch.ones_like(ids), torch.zeros_like(ids))
        with torch.no_grad():
            want = encoder(*tensors).numpy()
        feed = {name: t.numpy() for name, t in zip(INPUTS, tensors) if name in names}
        worst = float(np.abs(session.run(None, feed)[0] - want).max())
        if worst > MAX_DIFFERENCE:
            path.unlink()
            raise SystemExit(f"exported graph differs from PyTorch by {worst:.1e} at "
                             f"{batch}x{length}")


if __name__ == "__main__":
    export(Path(sys.argv[1]), Path(sys.argv[2]), "--logits" in sys.argv[3:])
