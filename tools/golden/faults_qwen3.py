"""Faults of a Qwen3-Embedding engine, planted in the oracle."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable

import torch
from torch import nn
from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS

from tiny_family import Fault


@dataclasses.dataclass
class Attention:
    """Attention written out, so that any part of it can be wrong. The defaults are right."""

    q_norm: bool = True
    k_norm: bool = True
    norm_after_rope: bool = False
    norm_whole: bool = False  # one norm over all heads, weights repeated
    interleaved: bool = False  # RoPE on pairs (2i, 2i+1)
    rotate_values: bool = False
    causal: bool = True
    window: Callable[[int, int | None], int | None] = lambda _layer, window: window
    modulo_heads: bool = False  # head h uses KV head h mod num_key_value_heads
    scale_dim: Callable[[object], int] = lambda config: config.head_dim

    def rotate(self, x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
        half = x.shape[-1] // 2
        cos, sin = cos[..., :half], sin[..., :half]
        a, b = (x[..., 0::2], x[..., 1::2]) if self.interleaved else (x[..., :half], x[..., half:])
        parts = (a * cos - b * sin, b * cos + a * sin)
        return torch.stack(parts, -1).flatten(-2) if self.interleaved else torch.cat(parts, -1)

    def norm(self, module, x: torch.Tensor, used: bool) -> torch.Tensor:
        if not used:
            return x
        if self.norm_whole:
            variance = x.pow(2).mean((-3, -1), keepdim=True)  # over heads and their values
            return module.weight * x * torch.rsqrt(variance + module.variance_epsilon)
        return module(x)

    def mask(self, attn, length: int) -> torch.Tensor:
        query, key = torch.arange(length)[:, None], torch.arange(length)[None]
        keep = (key <= query) if self.causal else torch.ones(length, length, dtype=torch.bool)
        window = self.window(attn.layer_idx, attn.sliding_window)
        return keep if window is None else keep & (key > query - window)

    def forward(self, attn, hidden_states, position_embeddings):
        def project(linear):
            x = linear(hidden_states)
            return x.view(*x.shape[:-1], -1, attn.head_dim).transpose(1, 2)

        query, key, value = (project(x) for x in (attn.q_proj, attn.k_proj, attn.v_proj))
        steps = [lambda x, module, used: self.norm(module, x, used),
                 lambda x, _module, _used: self.rotate(x, *position_embeddings)]
        for step in reversed(steps) if self.norm_after_rope else steps:
            query = step(query, attn.q_norm, self.q_norm)
            key = step(key, attn.k_norm, self.k_norm)
        if self.rotate_values:
            value = self.rotate(value, *position_embeddings)
        heads, kv_heads = query.shape[1], key.shape[1]
        h = torch.arange(heads)
        owner = h % kv_heads if self.modulo_heads else h // (heads // kv_heads)
        scores = query @ key[:, owner].transpose(2, 3) * self.scale_dim(attn.config) ** -0.5
        scores = scores.masked_fill(~self.mask(attn, scores.shape[-1]), -torch.inf)
        context = torch.softmax(scores, -1) @ value[:, owner]
        return attn.o_proj(context.transpose(1, 2).flatten(2)), None


def config_of(model):
    return model[0].auto_model.config


def attentions(model) -> list:
    return [layer.self_attn for layer in model[0].auto_model.layers]


def narrow_heads(config) -> int:
    return max(config.hidden_size // config.num_attention_heads, 2)


def attention(name: str, applies=lambda _config: True, **wrong) -> Fault:
    def plant(_spec, model) -> bool:
        for attn in attentions(model):
            attn.forward = lambda hidden_states, position_embeddings, a=attn, **_kwargs: (
                Attention(**wrong).forward(a, hidden_states, position_embeddings))
        return applies(config_of(model))
    return Fault(name, plant)


def written_out_equals_library(_spec, model) -> bool:
    """Not a fault: shows that Attention is right, so that each difference is its fault's own."""
    return attention("", causal=True).plant(_spec, model)


def rope(name: str, applies, change) -> Fault:
    """`change(config, rotary)` returns inv_freq and the factor of cos and sin."""
    def plant(_spec, model) -> bool:
        config, rotary = copy.deepcopy(config_of(model)), model[0].auto_model.rotary_emb
        if not applies(config.rope_parameters, config):
            return False
        rotary.inv_freq, rotary.attention_scaling = change(config, rotary)
        rotary.rope_type = "default"  # no update by length
        return True
    return Fault(name, plant)


def plain_rope(config, rotary, **parameters):
    config.rope_parameters.update(parameters)
    return rotary.compute_default_rope_parameters(config)


def scaled_rope(config, seq_len: int | None = None, without=(), **parameters):
    config.rope_parameters.update(parameters)
    for key in without:
        del config.rope_parameters[key]
    return ROPE_INIT_FUNCTIONS[config.rope_parameters["rope_type"]](config, seq_len=seq_len)


def rope_of_narrow_heads(config, rotary):
    dim = config.head_dim
    exponent = torch.arange(0, dim, 2, dtype=torch.float) / narrow_heads(config)
    return config.rope_parameters["rope_theta"] ** -exponent, rotary.attention_scaling


def of_type(*types: str, key: str | None = None):
    return lambda parameters, _config: (
        parameters["rope_type"] in types and (key is None or key in parameters))


def epsilon(value: float) -> Fault:
    def plant(_spec, model) -> bool:
        norms = [m for m in model[0].auto_model.modules() if hasattr(m, "variance_epsilon")]
        changed = norms[0].variance_epsilon != value
        for norm in norms:
            norm.variance_epsilon = value
        return changed
    return Fault(f"rms_norm_eps {value:g} whatever the file says", plant)


def drop_bias(suffix: str) -> Fault:
    def plant(_spec, model) -> bool:
        found = [p for name, p in model.named_parameters() if name.endswith(suffix + ".bias")]
        for parameter in found:
            parameter.data.zero_()
        return bool(found)
    return Fault(f"bias of {suffix} dropped", plant)


def every_norm_plus_one(_spec, model) -> bool:
    for name, parameter in model[0].auto_model.named_parameters():
        if "norm" in name:
            parameter.data += 1.0
    return True


def final_norm_skipped(_spec, model) -> bool:
    model[0].auto_model.norm = nn.Identity()
    return True


def last_layer_skipped(_spec, model) -> bool:
    transformer = model[0].auto_model
    transformer.layers = transformer.layers[:-1]
    transformer.config.num_hidden_layers -= 1
    return True


def mlp(change: Callable) -> Callable:
    def plant(_spec, model) -> bool:
        for layer in model[0].auto_model.layers:
            change(layer.mlp)
        return True
    return plant


def gate_and_up_swapped(block) -> None:
    block.gate_proj, block.up_proj = block.up_proj, block.gate_proj


def gelu_for_silu(block) -> None:
    block.act_fn = nn.GELU()


def residuals_from_the_norm(_spec, model) -> bool:
    for layer in model[0].auto_model.layers:
        layer.input_layernorm.register_forward_hook(
            lambda _module, inputs, output: inputs[0].copy_(output))
    return True


def pooling(mode: str) -> Fault:
    def plant(_spec, model) -> bool:
        model[1].pooling_mode = mode
        return True
    return Fault(f"{mode} pooling", plant)


def normalize_skipped(_spec, model) -> bool:
    if len(model) < 3:
        return False
    model[2].forward = lambda features, **_kwargs: features
    return True


def tokens(name: str, change: Callable, invisible: str = "") -> Fault:
    """`change(ids, model)` returns the ids that a wrong engine would compute on."""
    def plant(_spec, model) -> bool:
        preprocess = model.preprocess

        def wrong(texts, **kwargs):
            features = preprocess(texts, **kwargs)
            ids = change(features["input_ids"][0].tolist(), model)
            return {**features, "input_ids": torch.tensor([ids]),
                    "attention_mask": torch.ones(1, len(ids), dtype=torch.long)}
        model.preprocess = wrong
        return True
    return Fault(name, plant, invisible)


def without_final(ids: list[int], model) -> list[int]:
    return ids[:-1] or ids


def final_lost_when_truncated(ids: list[int], model) -> list[int]:
    """As if the text were cut after the final token was appended."""
    return ids[:-1] + [ids[0]] if len(ids) == model.max_seq_length else ids


def config_eos(ids: list[int], model) -> list[int]:
    return ids[:-1] + [model.tokenizer.eos_token_id]


def not_composed(_spec, model) -> bool:
    """Tokenizes without the NFC normalizer."""
    from tokenizers import normalizers
    model.tokenizer.backend_tokenizer.normalizer = normalizers.Sequence([])
    return True


def default_prompt_ignored(_spec, model) -> bool:
    applies = model.default_prompt_name is not None
    model.default_prompt_name = None
    return applies


def shorter(_spec, model) -> bool:
    model.max_seq_length -= 1
    return True


def tie_inverted(spec, model) -> bool:
    """The embedding for logits although there is a head of its own."""
    model.lm_head = model[0].auto_model.embed_tokens.weight.detach()
    return spec.lm_head


def grouped(config) -> bool:
    return config.num_attention_heads > config.num_key_value_heads > 1


def several_kv(config) -> bool:
    return config.num_attention_heads > 1


def has_window(config) -> bool:
    return "sliding_attention" in config.layer_types


def mixed_windows(config) -> bool:
    return has_window(config) and "full_attention" in config.layer_types


def longest_rope(config, _rotary):
    return scaled_rope(config, seq_len=160)


FAULTS = [
    Fault("none: attention written out as it should be", written_out_equals_library,
          "shows that the faults below are the only difference"),
    attention("RoPE on pairs (2i, 2i+1)", interleaved=True),
    attention("RoPE on the values too", rotate_values=True),
    attention("q_norm missing", q_norm=False),
    attention("k_norm missing", k_norm=False),
    attention("q_norm and k_norm after RoPE", norm_after_rope=True),
    attention("q_norm and k_norm over all heads at once", several_kv, norm_whole=True),
    attention("causal mask missing", causal=False),
    attention("head h uses KV head h mod num_key_value_heads", grouped, modulo_heads=True),
    attention("scale from hidden_size / num_attention_heads", scale_dim=narrow_heads),
    attention("sliding window ignored", has_window, window=lambda _layer, _window: None),
    attention("sliding window one token wider", has_window,
              window=lambda _layer, window: window and window + 1),
    attention("sliding window in every layer", mixed_windows,
              window=lambda _layer, _window: 8),
    rope("RoPE frequencies from hidden_size / num_attention_heads", lambda _p, _c: True,
         rope_of_narrow_heads),
    rope("rope_theta 10000 whatever the file says",
         lambda p, _c: p["rope_type"] == "default" and p["rope_theta"] != 1e4,
         lambda c, r: plain_rope(c, r, rope_theta=1e4)),
    rope("rope_theta 1000000 whatever the file says",
         lambda p, _c: p["rope_type"] == "default" and p["rope_theta"] != 1e6,
         lambda c, r: plain_rope(c, r, rope_theta=1e6)),
    *(rope(f"{kind} scaling dropped", of_type(kind), plain_rope)
      for kind in ("linear", "dynamic", "yarn")),
    rope("dynamic scaling by the limit, not by the text's length", of_type("dynamic"),
         longest_rope),
    rope("yarn computed as linear", of_type("yarn"),
         lambda c, _r: scaled_rope(c, rope_type="linear")),
    rope("yarn without its factor on cos and sin", of_type("yarn"),
         lambda c, _r: (scaled_rope(c)[0], 1.0)),
    rope("yarn: attention_factor ignored", of_type("yarn", key="attention_factor"),
         lambda c, _r: scaled_rope(c, without=["attention_factor"])),
    rope("yarn: mscale and mscale_all_dim ignored", of_type("yarn", key="mscale_all_dim"),
         lambda c, _r: scaled_rope(c, without=["mscale", "mscale_all_dim"])),
    rope("yarn: mscale alone applied",
         lambda p, _c: "mscale" in p and "mscale_all_dim" not in p,
         lambda c, _r: scaled_rope(c, mscale_all_dim=1e-9)),
    rope("yarn: truncate ignored", of_type("yarn", key="truncate"),
         lambda c, _r: scaled_rope(c, truncate=True)),
    rope("yarn: beta_fast and beta_slow ignored", of_type("yarn", key="beta_fast"),
         lambda c, _r: scaled_rope(c, beta_fast=32, beta_slow=1)),
    rope("yarn: original_max_position_embeddings read as max_position_embeddings",
         lambda p, c: p["rope_type"] == "yarn" and
         p["original_max_position_embeddings"] != c.max_position_embeddings,
         lambda c, _r: scaled_rope(
             c, original_max_position_embeddings=c.max_position_embeddings)),
    epsilon(1e-5), epsilon(1e-6),
    *(drop_bias(f"{part}_proj") for part in "qkvo"),
    Fault("norm weights applied as 1 + w", every_norm_plus_one),
    Fault("final norm skipped", final_norm_skipped),
    Fault("last layer skipped", last_layer_skipped),
    Fault("residual taken after the norm", residuals_from_the_norm),
    Fault("gate and up swapped", mlp(gate_and_up_swapped)),
    Fault("silu computed as gelu", mlp(gelu_for_silu)),
    pooling("mean"), pooling("cls"),
    Fault("Normalize skipped", normalize_skipped),
    tokens("final <|endoftext|> not appended", without_final),
    tokens("final <|endoftext|> appended twice", lambda ids, _model: ids + ids[-1:]),
    tokens("eos_token of tokenizer_config.json appended instead", config_eos),
    tokens("final <|endoftext|> lost by truncation", final_lost_when_truncated),
    Fault("truncated one token early", shorter),
    Fault("NFC skipped", not_composed),
    Fault("default prompt ignored", default_prompt_ignored),
    Fault("logits from the embedding although there is a lm_head", tie_inverted, in_logits=True),
]
