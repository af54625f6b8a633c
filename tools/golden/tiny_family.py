"""What the generators need to know of a model family, and how one text is embedded."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch

from common import GOLDEN_DIR

TINY = GOLDEN_DIR / "tiny"


@dataclasses.dataclass(frozen=True)
class Family:
    """The parts of tiny.py and check_sensitivity.py that differ between families."""

    name: str
    manifest: str  # file name under tests/golden/tiny
    variants: list[Any]  # specs: name, proves, seed, tolerance, same_as, encodes, ...
    texts: list[str]
    pairs: list[tuple[str, str]]
    build: Callable[[Any, Path], None]  # writes the model directory
    load: Callable[[Path, bool], Any]  # directory, float64? -> sentence-transformers model
    check_weights: Callable[[Any, Any], None]  # the oracle uses the weights that were drawn
    tap_modules: Callable[[Any], dict[str, torch.nn.Module]]  # intermediate values to store
    taps: Callable[[Any, int], list[int]]  # spec, number of cases -> cases with taps
    raw_from_file: Callable[[Any], bool]  # tokenizer.json itself is what the oracle applies
    type_ids: bool = True  # whether the model has token types
    before_text: Callable[[Any], None] = lambda _model: None  # forgets the last text
    logits: Callable[[Any, torch.Tensor], torch.Tensor] | None = None  # of the last position

    def inputs(self, spec, options: dict) -> list[tuple[str, str | None]]:
        """The texts, and the pairs where nothing is put in front of a text."""
        inputs: list[tuple[str, str | None]] = [(text, None) for text in self.texts]
        if not options and "prompts" not in spec.st_config:
            inputs += self.pairs
        return inputs


@dataclasses.dataclass
class Fault:
    """What an engine might do wrong, done to the oracle."""

    name: str
    plant: Callable[[Any, Any], bool]  # spec, model -> whether it applies to this variant
    invisible: str = ""  # the reason why no result can show it
    in_logits: bool = False  # shows in the logits, not in the embeddings


def features_of(model, text: str, pair: str | None, options: dict) -> dict:
    """Model inputs for one text as sentence-transformers makes them."""
    if pair is None:
        prompt = model._resolve_prompt(options.get("prompt"), options.get("prompt_name"))
        return model.preprocess([text], prompt=prompt)
    features = model.tokenizer([text], [pair], truncation="longest_first", return_tensors="pt")
    return {**features, "modality": "text"}


@torch.no_grad()
def embed(family: Family, model, text: str, pair: str | None,
          options: dict) -> tuple[dict, np.ndarray]:
    """What the module chain gives for one text, and its vector."""
    family.before_text(model)
    features = features_of(model, text, pair, options)
    out = model(dict(features))
    vector = out["sentence_embedding"][0]
    dimensions = options.get("dimensions")
    if dimensions is not None:
        vector = vector[:dimensions]
        if any(type(module).__name__ == "Normalize" for module in model):
            vector = torch.nn.functional.normalize(vector, dim=0)
    return out, vector.numpy()
