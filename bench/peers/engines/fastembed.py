"""fastembed on a local ONNX graph: the one that ONNX Runtime gets here, under fastembed's code."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np

from engines import onnx_export
from engines.base import Engine, Setting, Unsupported, once
from engines.encoder import Pooler

NAME = "local/model"
FILES = ("config.json", "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json")


class FastEmbed(Engine):
    kinds = ("embed",)

    def __init__(self, setting: Setting) -> None:
        super().__init__(setting)
        config = json.loads((setting.model_dir / "config.json").read_text())
        if config["model_type"] != "bert":
            raise Unsupported("its local models are encoders")
        self.pooler, self.dimensions = Pooler(setting.model_dir), config["hidden_size"]

    def directory(self) -> Path:
        def make(path: Path) -> None:
            source = onnx_export.fused_graph(self.setting.model_dir, self.setting.cache, False)
            shutil.copytree(source.parent, path)
            for name in FILES:
                shutil.copy(self.setting.model_dir / name, path / name)

        return once(self.setting.cache / "fastembed", make)

    def export(self) -> None:
        self.directory()

    def load(self) -> str:
        from fastembed import TextEmbedding
        from fastembed.common.model_description import ModelSource, PoolingType

        pooling = {"cls": PoolingType.CLS, "mean": PoolingType.MEAN}[self.pooler.mode]
        TextEmbedding.add_custom_model(
            model=NAME, pooling=pooling, normalization=self.pooler.normalize, dim=self.dimensions,
            sources=ModelSource(url="file:///local"), model_file="model.onnx")
        self.model = TextEmbedding(NAME, specific_model_path=str(self.directory()),
                                   threads=self.setting.threads, providers=["CPUExecutionProvider"])
        return "the fused fp32 graph"

    def prepare(self, work: dict) -> None:
        """The library takes texts only. Its tokenizer runs here, beforehand, as for the other
        engines; embed() finds the encodings ready."""
        self.texts = [row[0] for row in work["texts"]]
        inner, size = self.model.model, self.setting.batch_size
        ready = {}
        for begin in range(0, len(self.texts), size):
            texts = self.texts[begin:begin + size]
            encodings = inner.tokenize(texts)
            ready[tuple(texts)] = encodings
            for encoding, ids in zip(encodings, work["ids"][begin:begin + size]):
                if encoding.ids[:len(ids)] != ids or sum(encoding.attention_mask) != len(ids):
                    raise Unsupported("its tokenizer does not give the ids of this workload")
        inner.tokenize = lambda documents, **_: ready[tuple(documents)]

    def run(self) -> np.ndarray:
        return np.stack(list(self.model.embed(self.texts, batch_size=self.setting.batch_size)))
