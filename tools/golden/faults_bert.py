"""Faults of a BERT engine, planted in the oracle."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import nn

from tiny_family import Fault


def layers(model):
    return model[0].auto_model.encoder.layer


def modules_of(model, *kinds: str):
    return [module for module in model if type(module).__name__ in kinds]


def drop_bias(suffix: str) -> Fault:
    def plant(_spec, model) -> bool:
        found = False
        for name, parameter in model[0].auto_model.named_parameters():
            if name.endswith(suffix + ".bias") and "pooler" not in name:
                parameter.data.zero_()
                found = True
        return found
    # The softmax over keys is blind to q . b_k, which is the same for every key.
    invisible = "cancels in the softmax" if suffix == "attention.self.key" else ""
    return Fault(f"bias of {suffix} dropped", plant, invisible)


def activation(name: str, function: Callable, only: tuple[str, ...]) -> Fault:
    def plant(_spec, model) -> bool:
        if model[0].auto_model.config.hidden_act not in only:
            return False
        for layer in layers(model):
            layer.intermediate.intermediate_act_fn = function
        return True
    return Fault(name, plant)


def epsilon(value: float) -> Fault:
    def plant(_spec, model) -> bool:
        norms = [m for m in model[0].auto_model.modules() if isinstance(m, nn.LayerNorm)]
        changed = norms[0].eps != value
        for norm in norms:
            norm.eps = value
        return changed
    return Fault(f"layer_norm_eps {value:g} whatever the file says", plant)


def pooling(mode: str) -> Fault:
    def plant(_spec, model) -> bool:
        module = modules_of(model, "Pooling")[0]
        if not isinstance(module.pooling_mode, str) or module.pooling_mode == mode:
            return False
        module.pooling_mode = mode
        return True
    return Fault(f"{mode} pooling whatever the file says", plant)


def pooling_order(_spec, model) -> bool:
    module = modules_of(model, "Pooling")[0]
    if isinstance(module.pooling_mode, str):
        return False
    module.pooling_mode = tuple(reversed(module.pooling_mode))
    return True


def prompt_pooled(_spec, model) -> bool:
    module = modules_of(model, "Pooling")[0]
    applies = not module.include_prompt
    module.include_prompt = True
    return applies


def prompt_ignored(_spec, model) -> bool:
    applies = model.default_prompt_name is not None
    model.default_prompt_name = None
    return applies


def type_ids_ignored(_spec, model) -> bool:
    if model[0].auto_model.config.type_vocab_size < 2:
        return False
    weight = model[0].auto_model.embeddings.token_type_embeddings.weight
    weight.data[:] = weight.data[0]
    return True


def type_embedding_dropped(_spec, model) -> bool:
    model[0].auto_model.embeddings.token_type_embeddings.weight.data.zero_()
    return True


def shifted_positions(only: str, shift: int):
    def plant(_spec, model) -> bool:
        if (model[0].auto_model.config.model_type == "bert") != (only == "bert"):
            return False
        table = model[0].auto_model.embeddings.position_embeddings.weight
        table.data = torch.roll(table.data, -shift, 0)
        return True
    return plant


def attention_scale(_spec, model) -> bool:
    hidden = model[0].auto_model.config.hidden_size
    applies = model[0].auto_model.config.num_attention_heads > 1
    for layer in layers(model):
        layer.attention.self.scaling = hidden ** -0.5
    return applies


def last_layer_skipped(_spec, model) -> bool:
    encoder = model[0].auto_model.encoder
    encoder.layer = encoder.layer[:-1]
    return True


def residual_dropped(_spec, model) -> bool:
    for layer in layers(model):
        block = layer.output
        block.forward = lambda hidden, _x, b=block: b.LayerNorm(b.dense(hidden))
    return True


def module_skipped(kind: str):
    def plant(_spec, model) -> bool:
        found = modules_of(model, kind)
        for module in found:
            module.forward = lambda features, **_kwargs: features
        return bool(found)
    return plant


def always_normalized(_spec, model) -> bool:
    if modules_of(model, "Normalize"):
        return False
    last = model[len(model) - 1]
    forward = last.forward

    def normalized(features, **kwargs):
        out = forward(features, **kwargs)
        vector = out["sentence_embedding"]
        return {**out, "sentence_embedding": nn.functional.normalize(vector, dim=-1)}
    last.forward = normalized
    return True


def dense_activation(replacement, wrong_for: type):
    def plant(_spec, model) -> bool:
        found = False
        for module in modules_of(model, "Dense"):
            if isinstance(module.activation_function, wrong_for):
                module.activation_function = replacement
                found = True
        return found
    return plant


def dense_residual(_spec, model) -> bool:
    found = [module for module in modules_of(model, "Dense") if module.use_residual]
    for module in found:
        module.use_residual = False
    return bool(found)


def shorter(_spec, model) -> bool:
    model.max_seq_length -= 1
    return True


GELU = ("gelu",)
TANH_FORMS = ("gelu_new", "gelu_pytorch_tanh")
FAULTS = [
    *(drop_bias(name) for name in (
        "attention.self.query", "attention.self.key", "attention.self.value",
        "attention.output.dense", "intermediate.dense", "output.dense", "LayerNorm")),
    activation("gelu computed in its tanh form", nn.GELU(approximate="tanh"), GELU),
    activation("tanh-form gelu computed with erf", nn.GELU(), TANH_FORMS),
    activation("relu and silu computed as gelu", nn.GELU(), ("relu", "silu")),
    epsilon(1e-12), epsilon(1e-5), epsilon(1e-6),
    *(pooling(mode) for mode in (
        "cls", "mean", "max", "mean_sqrt_len_tokens", "weightedmean", "lasttoken")),
    Fault("concatenated pooling in the reverse order", pooling_order),
    Fault("prompt pooled although include_prompt is false", prompt_pooled),
    Fault("default prompt ignored", prompt_ignored),
    Fault("token type ids ignored", type_ids_ignored),
    Fault("token type embedding not added", type_embedding_dropped),
    Fault("BERT positions start at 1", shifted_positions("bert", 1)),
    Fault("XLM-R positions start at 0", shifted_positions("roberta", -2)),
    Fault("attention scaled by 1/sqrt(hidden_size)", attention_scale),
    Fault("last layer skipped", last_layer_skipped),
    Fault("residual of the MLP dropped", residual_dropped),
    Fault("Normalize skipped", module_skipped("Normalize")),
    Fault("normalized although there is no Normalize", always_normalized),
    Fault("Dense skipped where the width allows", module_skipped("Dense")),
    Fault("Dense: Tanh computed as Identity", dense_activation(nn.Identity(), nn.Tanh)),
    Fault("Dense: Identity computed as Tanh", dense_activation(nn.Tanh(), nn.Identity)),
    Fault("Dense: use_residual ignored", dense_residual),
    Fault("LayerNorm module skipped", module_skipped("LayerNorm")),
    Fault("truncated one token early", shorter),
]
