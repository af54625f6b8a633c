"""CTranslate2's encoder on CPU, in float32 or with weights and activations in int8."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from engines.base import Setting, Unsupported, once
from engines.encoder import Batch, EncoderEngine

NO_DECODERS = "its generator gives logits, not the hidden states that an embedding is made of"


class CTranslate2(EncoderEngine):
    def __init__(self, setting: Setting) -> None:
        super().__init__(setting)
        config = json.loads((setting.model_dir / "config.json").read_text())
        if config["model_type"] != "bert":
            raise Unsupported(NO_DECODERS)

    def converted(self) -> Path:
        """By the library's converter, which wants a model without a head."""
        def make(path: Path) -> None:
            from ctranslate2.converters import TransformersConverter

            source = base_model(self.setting)
            TransformersConverter(str(source)).convert(str(path))

        return once(self.setting.cache / "ctranslate2", make)

    def export(self) -> None:
        self.converted()
        if self.setting.kind == "score":
            classifier(self.setting)

    def load(self) -> str:
        import ctranslate2

        self.library = ctranslate2
        self.encoder = ctranslate2.Encoder(
            str(self.converted()), device="cpu", compute_type=self.setting.variant,
            intra_threads=self.setting.threads, inter_threads=1)
        if self.setting.kind == "score":
            file = np.load(classifier(self.setting))
            self.weight, self.bias = file["weight"], file["bias"]
        return f"compute type {self.encoder.compute_type}"

    def convert(self, batch: Batch) -> Batch:
        view = self.library.StorageView.from_array
        batch.view = view(batch.ids.astype(np.int32))
        batch.view_lengths = view(np.array(batch.lengths, np.int32))
        batch.type_rows = [row.tolist() for row in batch.types]
        return batch

    def forward(self, batch: Batch) -> np.ndarray:
        output = self.encoder.forward_batch(batch.view, batch.view_lengths,
                                            token_type_ids=batch.type_rows)
        if self.setting.kind == "score":
            return np.array(output.pooler_output) @ self.weight.T + self.bias
        return np.array(output.last_hidden_state)


def base_model(setting: Setting) -> Path:
    """A directory of BertModel alone, with the keys that the converter reads."""
    def make(path: Path) -> None:
        import transformers

        model = transformers.BertModel.from_pretrained(str(setting.model_dir))
        model.config.position_embedding_type = "absolute"
        model.save_pretrained(str(path))
        transformers.AutoTokenizer.from_pretrained(str(setting.model_dir)).save_pretrained(
            str(path))

    return once(setting.cache / "bert", make)


def classifier(setting: Setting) -> Path:
    """The linear layer behind the pooler, which the library leaves to its caller."""
    def make(path: Path) -> None:
        import transformers

        model = transformers.AutoModelForSequenceClassification.from_pretrained(
            str(setting.model_dir))
        with open(path, "wb") as file:
            np.savez(file, weight=model.classifier.weight.detach().numpy(),
                     bias=model.classifier.bias.detach().numpy())

    return once(setting.cache / "classifier.npz", make)
