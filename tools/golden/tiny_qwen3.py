"""The Qwen3-Embedding family for the tiny goldens."""

from __future__ import annotations

import numpy as np
import torch

import qwen3_oracle
from qwen3_models import Qwen3Spec, body_weights, build_directory, file_tensors
from qwen3_variants import VARIANTS
from tiny_family import Family

TEXTS = [
    "the cat sat",
    "",
    "test",
    " a",
    "The quick brown fox jumps over the lazy dog.",
    "cafe\u0301, e\u0301a and caf\u00e9: Stra\u00dfe",
    "\u0928\u092e\u0938\u094d\u0924\u0947 \u4f60\u597d",
    "I'LL  say 'it's' 12345\r\n\r\n\tnow  ",
    "<|im_start|>user\nit is <think>late</think><|im_end|>\n",
    "for (int i = 0; i < 10; ++i) { sum += a[i]; } \U0001f642",
    "What time is it? It is late! We should go home now, the tea will be ready soon.",
    "The house of the sun, the stars and the moon and the light of the day " * 12,
]
TAPS = [0, 5]


def check_weights(spec: Qwen3Spec, model) -> None:
    """None missing, none renamed away; the head is the one that the file and config.json name."""
    state = model[0].auto_model.state_dict()
    stored = body_weights(spec)
    assert state.keys() == stored.keys()
    for name, value in stored.items():
        assert np.array_equal(state[name].double().numpy(), value.astype(np.float64)), name
    tied = spec.config.get("tie_word_embeddings", True)
    assert model.lm_head_is_known == (spec.lm_head or tied), spec.name
    if model.lm_head_is_known:
        # A head in the file is used even when config.json ties: the library ties equal ones only.
        head = file_tensors(spec).get("lm_head.weight", stored["embed_tokens.weight"])
        assert np.array_equal(model.lm_head.double().numpy(), head.astype(np.float64))


def tap_modules(model) -> dict:
    transformer = model[0].auto_model
    return {"embeddings": transformer.embed_tokens, "layer.0": transformer.layers[0]}


def logits(model, last: torch.Tensor) -> torch.Tensor | None:
    return model.lm_head @ last if model.lm_head_is_known else None


FAMILY = Family(
    name="qwen3", manifest="manifest_qwen3.json", variants=VARIANTS, texts=TEXTS, pairs=[],
    build=build_directory, load=qwen3_oracle.load, check_weights=check_weights,
    tap_modules=tap_modules, taps=lambda spec, _cases: TAPS if spec.second_tap else TAPS[:1],
    raw_from_file=lambda _spec: True, type_ids=False, before_text=qwen3_oracle.reset_rope,
    logits=logits)
