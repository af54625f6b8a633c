"""The list of tiny causal models. Each name is a directory under tests/golden/generation."""

from __future__ import annotations

import functools

from decays import FAST
from generation_models import ABSENT, ALL, Spec

ROPE = {"rope_type": "default", "rope_theta": 10000, "partial_rotary_factor": 0.25}
Main = functools.partial(Spec, lengths=ALL, greedy=True, taps=(5, 70), scored=300)
Tied = functools.partial(Spec, seed=201, same_as="tied")  # the weights of "tied" in other files


def gdn(key_heads: int, value_heads: int, key_dim: int, value_dim: int, **more) -> dict:
    return {"linear_num_key_heads": key_heads, "linear_num_value_heads": value_heads,
            "linear_key_head_dim": key_dim, "linear_value_head_dim": value_dim, **more}


def heads(query: int, key_value: int, head_dim: int, **more) -> dict:
    return {"num_attention_heads": query, "num_key_value_heads": key_value, "head_dim": head_dim,
            **more}


MAIN = [
    Main("tied", "the base: flat config.json, names with model., logits from the embedding", 201),
    Main("untied", "logits from lm_head", 202, lm_head=True),
    Main("v-heads-4", "2 key heads for 4 value heads: value head h uses key head h / 2, decay and "
         "beta are per value head", 203, config=gdn(2, 4, 16, 16)),
    Main("head-dim-128", "head_dim 128 with 5 heads on 1 KV head; hidden_size 16", 204,
         config=heads(5, 1, 128, hidden_size=16, intermediate_size=24)),
]

SHAPES = [
    Spec("v-heads-6", "2 key heads for 6 value heads; key and value head widths differ", 205,
         config=gdn(2, 6, 8, 16), taps=(5, 70)),
    Spec("real-heads", "the head widths of released models: 128 in the delta rule, 256 in "
         "attention, 64 of them rotated", 206, taps=(5, 70),
         config=gdn(1, 2, 128, 128, **heads(2, 1, 256), hidden_size=16, intermediate_size=24,
                    num_hidden_layers=2, layer_types=["linear_attention", "full_attention"])),
    Spec("layer-types", "layer_types decides, whatever full_attention_interval says", 207,
         config={"layer_types": ["full_attention", "linear_attention", "linear_attention",
                                 "full_attention"], "full_attention_interval": 4}),
    Spec("interval-2", "layer_types absent, full_attention_interval 2: layers 1 and 3; weights "
         "stored as F32", 208, dtype="F32", config=gdn(
             2, 2, 8, 8, **heads(2, 1, 16), hidden_size=24, intermediate_size=24,
             layer_types=ABSENT, full_attention_interval=2)),
    Spec("conv-2", "linear_conv_kernel_dim 2; weights stored as F16", 209, dtype="F16",
         config={"linear_conv_kernel_dim": 2}, taps=(5, 70)),
]

ARITHMETIC = [
    Spec("fast-decay", "decays from 0.6 down to exp(-60) a token: no exponent may overflow", 211,
         config=gdn(2, 4, 16, 16), decays=FAST, taps=(5, 70)),
    Spec("eps-1e-2", "a large rms_norm_eps in every norm; the l2norm of q and k keeps its 1e-6",
         212, config={"rms_norm_eps": 1e-2}),
    Spec("attention-bias", "attention_bias true: biases of q (query and gate), k, v and o", 213,
         config={"attention_bias": True}),
    Spec("partial-rotary-half", "partial_rotary_factor 0.5 in rope_parameters: 8 of 16 dims", 214,
         config={"rope_parameters": {**ROPE, "partial_rotary_factor": 0.5}}),
    Spec("rope-top-level", "rope_theta and partial_rotary_factor at the top level", 215,
         config={"rope_parameters": ABSENT, "rope_theta": 500, "partial_rotary_factor": 0.5}),
    Spec("rope-absent", "no key about RoPE: theta 10000, a quarter of each head; as many heads as "
         "fill hidden_size", 216, config=heads(2, 1, 16, rope_parameters=ABSENT)),
    Spec("rope-yarn", "yarn over the rotated dims only", 217, config=heads(
        2, 1, 32, rope_parameters={**ROPE, "rope_type": "yarn", "factor": 4.0,
                                   "partial_rotary_factor": 0.5,
                                   "original_max_position_embeddings": 40})),
    Spec("tied-own-head", "tie_word_embeddings true, but a lm_head of its own in the file: the "
         "file wins", 218, lm_head=True, config={"tie_word_embeddings": True}),
]

FILES = [
    Tied("nested", "text_config, names with model.language_model., a vision tower to be skipped, "
         "chat_template.jinja: the results of tied", nested=True, visual=True,
         prefix="model.language_model.", template_file=True),
    Tied("nested-tie-root", "tie_word_embeddings at the root only", nested=True,
         prefix="model.language_model.", config={"tie_word_embeddings": ABSENT},
         root={"tie_word_embeddings": True}),
    Tied("nested-tie-text", "tie_word_embeddings in text_config only", nested=True,
         prefix="model.language_model.", root={"tie_word_embeddings": ABSENT}),
    Spec("nested-untied", "nested, with lm_head.weight beside model.language_model.*", 202,
         same_as="untied", nested=True, prefix="model.language_model.", lm_head=True),
    Tied("no-prefix", "names without any prefix", prefix=""),
    Tied("interval-4", "layer_types absent: every fourth layer is full attention",
         config={"layer_types": ABSENT, "full_attention_interval": ABSENT}),
    Tied("sharded", "three shards and an index", shards=3),
]

MTP = [
    Spec("mtp", "a multi-token prediction head in the file changes nothing; what it predicts", 201,
         mtp=True),
]

QWEN3 = [
    Spec("qwen3-tied", "Qwen3ForCausalLM with logits from the embedding", 231, family="qwen3",
         greedy=True, taps=(5, 70), scored=130),
    Spec("qwen3-untied", "Qwen3ForCausalLM with lm_head; 8 heads on 2 KV heads", 232,
         family="qwen3", lm_head=True, greedy=True, config=heads(8, 2, 16)),
]

VARIANTS = MAIN + SHAPES + ARITHMETIC + FILES + MTP + QWEN3
