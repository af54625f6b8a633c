"""ONNX Runtime on CPU: fp32 with a fused graph, or int8 with dynamic quantization."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from engines import onnx_export
from engines.encoder import Batch, EncoderEngine
from machine import cpu_flags


class OnnxRuntime(EncoderEngine):
    def graph(self) -> Path:
        """The file to load; exported on the first call."""
        setting = self.setting
        logits = setting.kind == "score"
        config = json.loads((setting.model_dir / "config.json").read_text())
        make = onnx_export.fused_graph if config["model_type"] == "bert" else (
            onnx_export.plain_graph)
        path = make(setting.model_dir, setting.cache, logits)
        if setting.variant == "int8":
            vnni = any("vnni" in flag for flag in cpu_flags())
            path = onnx_export.int8_graph(path, setting.cache, reduce_range=not vnni)
        return path

    def export(self) -> None:
        self.graph()

    def load(self) -> str:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = self.setting.threads
        options.inter_op_num_threads = 1
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
        path = self.graph()
        self.session = onnxruntime.InferenceSession(
            str(path), options, providers=["CPUExecutionProvider"])
        self.inputs = {value.name for value in self.session.get_inputs()}
        return path.parent.name

    def convert(self, batch: Batch) -> Batch:
        feed = {"input_ids": batch.ids, "attention_mask": batch.mask,
                "token_type_ids": batch.types}
        batch.feed = {name: value for name, value in feed.items() if name in self.inputs}
        return batch

    def forward(self, batch: Batch) -> np.ndarray:
        return self.session.run(None, batch.feed)[0]
