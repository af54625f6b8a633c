"""A Hugging Face directory as an ONNX graph: plain, fused for ONNX Runtime, or in int8."""

from __future__ import annotations

import warnings
from pathlib import Path

from engines.base import once

MAX_DIFFERENCE = 1e-4  # of the graph's values from PyTorch's


def graph_module(model_dir: Path, logits: bool, attention: str):
    """A module from ids, mask and, for BERT, types to hidden states or logits; and its config."""
    import torch
    import transformers

    kind = transformers.AutoModelForSequenceClassification if logits else transformers.AutoModel
    model = kind.from_pretrained(str(model_dir), attn_implementation=attention,
                                 dtype=torch.float32).eval()
    extra = {} if model.config.model_type == "bert" else {"use_cache": False}

    class Graph(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.model = model

        def forward(self, input_ids, attention_mask, token_type_ids=None):
            if token_type_ids is not None:
                extra["token_type_ids"] = token_type_ids
            return self.model(input_ids=input_ids, attention_mask=attention_mask,
                              return_dict=False, **extra)[0]

    # Exporters put back the mode of what they are given: in training mode, dropout would be on.
    return Graph().eval(), model.config


def example_inputs(config, batch: int, length: int, seed: int) -> dict:
    """Random ids with one padded row, by the names of the graph's inputs."""
    import torch

    generator = torch.Generator().manual_seed(seed)
    ids = torch.randint(5, config.vocab_size, (batch, length), generator=generator)
    mask = torch.ones_like(ids)
    mask[-1, length - length // 4:] = 0 if batch > 1 else 1
    inputs = {"input_ids": ids, "attention_mask": mask}
    if config.model_type == "bert":
        inputs["token_type_ids"] = torch.zeros_like(ids)
    return inputs


def plain_graph(model_dir: Path, cache: Path, logits: bool) -> Path:
    """Exported by PyTorch, as it is, and checked on other shapes than it was traced with."""
    def make(path: Path) -> None:
        import torch  # here alone: who finds the file there does not wait for it

        module, config = graph_module(model_dir, logits, "eager")
        inputs = example_inputs(config, 2, 8, 0)
        axes = {name: {0: "batch", 1: "length"} for name in inputs}
        axes["output"] = {0: "batch"} if logits else {0: "batch", 1: "length"}
        path.mkdir()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            torch.onnx.export(module, tuple(inputs.values()), str(path / "model.onnx"),
                              input_names=list(inputs), output_names=["output"],
                              dynamic_axes=axes, opset_version=17, dynamo=False)
        check(path / "model.onnx", module, config)

    return once(cache / "onnx-plain", make) / "model.onnx"


def fused_graph(model_dir: Path, cache: Path, logits: bool) -> Path:
    """With attention, GELU and LayerNorm as ONNX Runtime's own operators, by its own tool: how
    this engine is fastest. Decoders have no such tool for a graph without a cache."""
    plain = plain_graph(model_dir, cache, logits)

    def make(path: Path) -> None:
        from onnxruntime.transformers import optimizer

        module, config = graph_module(model_dir, logits, "eager")
        fused = optimizer.optimize_model(
            str(plain), model_type="bert", opt_level=1, hidden_size=config.hidden_size,
            num_heads=config.num_attention_heads)
        counts = fused.get_fused_operator_statistics()
        if counts.get("Attention", 0) + counts.get("MultiHeadAttention", 0) == 0:
            raise SystemExit("ONNX Runtime's tool did not fuse the attention")
        path.mkdir()
        fused.save_model_to_file(str(path / "model.onnx"))
        check(path / "model.onnx", module, config)

    return once(cache / "onnx-fused", make) / "model.onnx"


def int8_graph(source: Path, cache: Path, reduce_range: bool) -> Path:
    """Weights in int8 per channel, activations quantized as they come. `reduce_range` (7 bits)
    keeps sums of 16 bits from overflowing on processors without VNNI."""
    def make(path: Path) -> None:
        import onnx
        from onnxruntime.quantization import QuantType, quantize_dynamic

        path.mkdir()
        size = sum(file.stat().st_size for file in source.parent.iterdir())
        # The type of what comes out of the fused operators, which onnx does not know.
        options = {"MatMulConstBOnly": True, "DefaultTensorType": onnx.TensorProto.FLOAT}
        quantize_dynamic(str(source), str(path / "model.onnx"), per_channel=True,
                         reduce_range=reduce_range, weight_type=QuantType.QInt8,
                         use_external_data_format=size > 1 << 30, extra_options=options)

    name = f"onnx-int8{'-7bit' if reduce_range else ''}"
    return once(cache / name, make) / "model.onnx"


def check(path: Path, module, config) -> None:
    """The graph gives PyTorch's values on shapes that it was not traced with, padding included."""
    import numpy as np
    import onnxruntime
    import torch

    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    names = {value.name for value in session.get_inputs()}
    for batch, length in ((1, 16), (3, 37)):
        inputs = example_inputs(config, batch, length, length)
        with torch.no_grad():
            want = module(*inputs.values()).numpy()
        got = session.run(None, {name: value.numpy() for name, value in inputs.items()
                                 if name in names})[0]
        if want.ndim == 3:  # what comes behind padding is of no interest
            kept = inputs["attention_mask"].numpy().astype(bool)
            want, got = want[kept], got[kept]
        worst = float(np.abs(got - want).max() / max(1.0, np.abs(want).max()))
        if not worst <= MAX_DIFFERENCE:
            raise SystemExit(f"the exported graph differs from PyTorch by {worst:.1e} at "
                             f"{batch}x{length}")
