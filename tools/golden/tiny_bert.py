"""The BERT family (BERT, RoBERTa, XLM-R) for the tiny goldens."""

from __future__ import annotations

import dataclasses

import numpy as np

from common import load_oracle
from tiny_family import Family
from tiny_models import Spec, build_directory, stored_names, transformer_weights
from tiny_variants import VARIANTS

TEXTS = [
    "the cat sat",
    "",
    "a",
    "The quick brown fox jumps over the lazy dog.",
    "Café déjà vu: Straße über dem Fluss!",
    "Быстрая лиса и σκύλος",
    "你好世界, 今天 天气",
    "one\nline\ttwo  spaces ",
    "unknowable \U0001f642 word",
    "for (int i = 0; i < 10; ++i) { sum += a[i]; }",
    "What time is it? It is late! We should go home now, the tea will be ready soon.",
    "The house of the sun, the stars and the moon and the light of the day " * 4,
]
PAIRS = [("what time is it", "it is late"), ("the moon", "")]
TAPS = [0, 5, len(TEXTS)]  # two texts and the first pair


def check_weights(spec: Spec, model) -> None:
    """None missing, none renamed away."""
    state = model[0].auto_model.state_dict()
    stored = stored_names(dataclasses.replace(spec, prefix="", gamma_beta=False),
                          transformer_weights(spec))
    for name, value in stored.items():
        if not name.endswith("position_ids"):
            assert np.array_equal(state[name].double().numpy(), value.astype(np.float64)), name
    missing = {name for name in state if not name.startswith("pooler.")} - stored.keys()
    assert all("position_ids" in name or "token_type_ids" in name for name in missing), missing


def tap_modules(model) -> dict:
    transformer = model[0].auto_model
    return {"embeddings": transformer.embeddings, "layer.0": transformer.encoder.layer[0]}


FAMILY = Family(
    name="bert", manifest="manifest.json", variants=VARIANTS, texts=TEXTS, pairs=PAIRS,
    build=build_directory, load=load_oracle, check_weights=check_weights,
    tap_modules=tap_modules, taps=lambda _spec, cases: [i for i in TAPS if i < cases],
    raw_from_file=lambda spec: not spec.vocab_txt_only and not spec.st_lowercase)
