"""OpenVINO on CPU: in the precision that it picks itself, or int8 by NNCF."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from engines import onnx_export
from engines.base import once
from engines.encoder import Batch, EncoderEngine, length_batches
from rows import Composer

CALIBRATION_ROWS, CALIBRATION_TOKENS, CALIBRATION_SEED = 128, 128, 99


class OpenVino(EncoderEngine):
    def plain(self) -> Path:
        """Converted from PyTorch with its fused attention; weights stay in float32."""
        def make(path: Path) -> None:
            import openvino
            import torch

            module, config = onnx_export.graph_module(
                self.setting.model_dir, self.setting.kind == "score", "sdpa")
            inputs = onnx_export.example_inputs(config, 2, 8, 0)
            with torch.no_grad():
                model = openvino.convert_model(module, example_input=inputs)
            path.mkdir()
            openvino.save_model(model, str(path / "model.xml"), compress_to_fp16=False)

        return once(self.setting.cache / "openvino", make) / "model.xml"

    def int8(self) -> Path:
        """Encoders: weights and activations, calibrated on other texts than those measured.
        Decoders, for which no text is at hand: weights; the plugin quantizes the activations
        where it can."""
        plain = self.plain()

        def make(path: Path) -> None:
            import nncf
            import openvino

            model = openvino.Core().read_model(str(plain))
            if self.is_decoder():
                model = nncf.compress_weights(model, mode=nncf.CompressWeightsMode.INT8_SYM)
            else:
                rows = self.calibration_rows()
                model = nncf.quantize(model, nncf.Dataset(rows), subset_size=len(rows),
                                      model_type=nncf.ModelType.TRANSFORMER)
            path.mkdir()
            openvino.save_model(model, str(path / "model.xml"), compress_to_fp16=False)

        return once(self.setting.cache / "openvino-int8", make) / "model.xml"

    def is_decoder(self) -> bool:
        config = json.loads((self.setting.model_dir / "config.json").read_text())
        return config["model_type"] != "bert"

    def calibration_rows(self) -> list[dict]:
        composer = Composer(self.setting.model_dir, CALIBRATION_SEED)
        make = composer.pair if self.setting.kind == "score" else composer.single
        rows = [make(CALIBRATION_TOKENS) for _ in range(CALIBRATION_ROWS)]
        work = {key: [row[key] for row in rows] for key in ("ids", "types")}
        return [feed_of(batch, types=True) for batch in length_batches(work, 1)]

    def graph(self) -> Path:
        return self.int8() if self.setting.variant == "int8" else self.plain()

    def export(self) -> None:
        self.graph()

    def load(self) -> str:
        import openvino

        compiled = openvino.Core().compile_model(str(self.graph()), "CPU", {
            "INFERENCE_NUM_THREADS": self.setting.threads, "NUM_STREAMS": 1,
            "PERFORMANCE_HINT": "LATENCY"})
        self.types = any("token_type_ids" in port.get_names() for port in compiled.inputs)
        self.request = compiled.create_infer_request()
        precision = compiled.get_property("INFERENCE_PRECISION_HINT").to_string()
        return f"inference precision {precision}"

    def convert(self, batch: Batch) -> Batch:
        batch.feed = feed_of(batch, self.types)
        return batch

    def forward(self, batch: Batch) -> np.ndarray:
        return self.request.infer(batch.feed)[0]


def feed_of(batch: Batch, types: bool) -> dict:
    feed = {"input_ids": batch.ids, "attention_mask": batch.mask}
    return feed | {"token_type_ids": batch.types} if types else feed
