"""What engines share that take a padded batch and give hidden states or logits."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from engines.base import Engine, Setting, Unsupported

POOLING = {"pooling_mode_cls_token": "cls", "pooling_mode_mean_tokens": "mean",
           "pooling_mode_lasttoken": "last"}


class Pooler:
    """sentence-transformers' pooling and normalization in NumPy, as the model's files say."""

    def __init__(self, model_dir: Path) -> None:
        modules = json.loads((model_dir / "modules.json").read_text())
        kinds = [module["type"].rsplit(".", 1)[-1] for module in modules]
        if kinds not in (["Transformer", "Pooling"], ["Transformer", "Pooling", "Normalize"]):
            raise Unsupported(f"module chain {kinds} is not written here")
        config = json.loads((model_dir / "1_Pooling" / "config.json").read_text())
        modes = [key for key, value in config.items()
                 if key.startswith("pooling_mode_") and value]
        mode = config.get("pooling_mode", modes[0] if len(modes) == 1 else None)
        self.mode = POOLING.get(mode, mode)
        if self.mode not in POOLING.values():
            raise Unsupported(f"pooling {mode} is not written here")
        self.normalize = kinds[-1] == "Normalize"

    def __call__(self, hidden: np.ndarray, mask: np.ndarray) -> np.ndarray:
        if self.mode == "cls":
            pooled = hidden[:, 0]
        elif self.mode == "last":
            pooled = hidden[np.arange(len(mask)), mask.sum(1) - 1]
        else:
            weights = mask[..., None].astype(np.float32)
            pooled = (hidden * weights).sum(1) / weights.sum(1)
        if self.normalize:
            pooled = pooled / np.maximum(np.linalg.norm(pooled, axis=1, keepdims=True), 1e-12)
        return pooled


class Batch:
    """Rows of about one length, padded at the end to the longest of them."""

    def __init__(self, order: list[int], work: dict) -> None:
        rows, types = work["ids"], work["types"]
        self.order = order
        self.lengths = [len(rows[index]) for index in order]
        shape = (len(order), max(self.lengths))
        self.ids, self.mask, self.types = (np.zeros(shape, np.int64) for _ in range(3))
        for place, index in enumerate(order):
            length = len(rows[index])
            self.ids[place, :length] = rows[index]
            self.mask[place, :length] = 1
            self.types[place, :length] = types[index]


def length_batches(work: dict, batch_size: int) -> list[Batch]:
    """The longest rows first, so many together: how sentence-transformers batches."""
    lengths = [len(row) for row in work["ids"]]
    order = sorted(range(len(lengths)), key=lambda index: -lengths[index])
    return [Batch(order[begin:begin + batch_size], work)
            for begin in range(0, len(order), batch_size)]


class EncoderEngine(Engine):
    """Batches of padded rows in; a subclass writes forward(), and may write convert()."""

    def __init__(self, setting: Setting) -> None:
        super().__init__(setting)
        self.pooler = Pooler(setting.model_dir) if setting.kind == "embed" else None

    def forward(self, batch: Batch) -> np.ndarray:
        """Hidden states [rows, longest, hidden_size], or logits [rows, labels]."""
        raise NotImplementedError

    def convert(self, batch: Batch) -> Batch:
        """The batch as the library likes it best."""
        return batch

    def prepare(self, work: dict) -> None:
        self.num_rows = len(work["ids"])
        self.batches = [self.convert(batch)
                        for batch in length_batches(work, self.setting.batch_size)]

    def run(self) -> np.ndarray:
        results: list = [None] * self.num_rows
        for batch in self.batches:
            values = self.forward(batch)
            if self.pooler is not None:
                values = self.pooler(values, batch.mask)
            for place, index in enumerate(batch.order):
                results[index] = values[place]
        return np.stack(results)
