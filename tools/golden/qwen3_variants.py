"""The list of tiny Qwen3-Embedding variants. Each name is a directory under tests/golden/tiny."""

from __future__ import annotations

from qwen3_models import ABSENT, Qwen3Spec as Spec

PROMPT_ENCODES = [{}, {"prompt_name": "query"}, {"prompt_name": "document"},
                  {"prompt": "Instruct: find the cat\nQuery: "}]
SMALL = {"num_attention_heads": 2, "num_key_value_heads": 1, "hidden_size": 24}
NARROW = {"hidden_size": 16, "intermediate_size": 24}


def heads(query: int, key_value: int, head_dim: int, **more) -> dict:
    return {"num_attention_heads": query, "num_key_value_heads": key_value, "head_dim": head_dim,
            **more}


def rope(scaling: dict | None, theta: float = 10000.0, **more) -> dict:
    """Old spelling: rope_scaling beside rope_theta; texts up to 160 tokens."""
    return {"rope_scaling": scaling, "rope_theta": theta, "max_position_embeddings": 160,
            **SMALL, **more}


def rope_parameters(parameters: dict, **more) -> dict:
    """New spelling: everything in rope_parameters; texts up to 160 tokens."""
    return {"rope_parameters": parameters, "max_position_embeddings": 160, **SMALL, **more}


SHAPES = [
    Spec("qwen3-base", "GQA 2, head_dim 16 where hidden_size / heads is 8; weights stored as "
         "F32", 101, dtype="F32"),
    Spec("qwen3-gqa-1", "as many KV heads as heads; three layers; projections wider than "
         "hidden_size", 102, second_tap=True, config=heads(3, 3, 16, num_hidden_layers=3)),
    Spec("qwen3-gqa-4", "8 heads on 2 KV heads: head h uses KV head h / 4", 103,
         config=heads(8, 2, 16)),
    Spec("qwen3-gqa-8", "8 heads on 1 KV head; hidden_size 40", 104,
         config=heads(8, 1, 16, hidden_size=40)),
    Spec("qwen3-gqa-3", "6 heads on 2 KV heads: a ratio that is no power of two", 105,
         config=heads(6, 2, 12)),
    Spec("qwen3-head-dim-20", "head_dim 20, no multiple of a vector register", 106,
         config=heads(4, 2, 20, hidden_size=40)),
    Spec("qwen3-head-dim-64", "head_dim 64, GQA 2", 107, config=heads(2, 1, 64, **NARROW)),
    Spec("qwen3-head-dim-80", "head_dim 80, GQA 2 on 2 KV heads", 108,
         config=heads(4, 2, 80, **NARROW)),
    Spec("qwen3-head-dim-96", "head_dim 96, one head", 109, config=heads(1, 1, 96, **NARROW)),
    Spec("qwen3-head-dim-128", "head_dim 128, GQA 4", 110, config=heads(4, 1, 128, **NARROW)),
    Spec("qwen3-head-dim-256", "head_dim 256, GQA 2", 111,
         config=heads(2, 1, 256, hidden_size=16, intermediate_size=16)),
    Spec("qwen3-head-dim-absent", "no head_dim: the class default 128, not hidden_size / heads",
         112, config=heads(2, 2, ABSENT, **NARROW)),
]

FILES = [
    Spec("qwen3-sharded", "two shards and an index, names with model.: the same vectors as one "
         "file without", 103, prefix="model.", shards=2, same_as="qwen3-gqa-4",
         config=heads(8, 2, 16)),
    Spec("qwen3-new-config", "config.json as transformers 5 writes it: rope_parameters, "
         "layer_types, dtype; new class paths; pooling_mode as a string", 113, new_config=True,
         new_class_paths=True, pooling_file={"pooling_mode": "lasttoken", "include_prompt": True}),
    Spec("qwen3-f16", "weights stored as F16", 114, dtype="F16"),
    Spec("qwen3-untied", "tie_word_embeddings false and lm_head in the file: logits come from "
         "lm_head", 115, prefix="model.", lm_head=True, config={"tie_word_embeddings": False}),
    Spec("qwen3-untied-no-head", "tie_word_embeddings false without lm_head: embeds all the same",
         116, config={"tie_word_embeddings": False}),
    Spec("qwen3-tied-own-head", "tie_word_embeddings true, but a lm_head of its own in the file: "
         "the file wins", 117, prefix="model.", lm_head=True),
    Spec("qwen3-padded-vocab", "more embedding rows than the tokenizer has tokens", 118,
         config={"vocab_size": 352}),
]

ARITHMETIC = [
    Spec("qwen3-bias", "attention_bias true: biases of q, k, v and o", 121,
         config={"attention_bias": True}),
    Spec("qwen3-eps-1e-6", "rms_norm_eps 1e-6 on small activations: no larger eps is used", 122,
         embedding_scale=2e-3),
    Spec("qwen3-eps-1e-2", "a large rms_norm_eps in every norm, the per-head ones included", 123,
         config={"rms_norm_eps": 1e-2}, embedding_scale=0.2),
    Spec("qwen3-no-normalize", "Normalize absent: the vector is not unit length", 124,
         normalize=False, encodes=[{}, {"dimensions": 8}], tolerance=3e-5),
    Spec("qwen3-window", "use_sliding_window: layers from max_window_layers on see 8 tokens", 125,
         config={"use_sliding_window": True, "sliding_window": 8, "max_window_layers": 1,
                 "num_hidden_layers": 3, **SMALL}),
    Spec("qwen3-window-all", "max_window_layers 0: every layer has the window", 126,
         config={"use_sliding_window": True, "sliding_window": 5, "max_window_layers": 0}),
    Spec("qwen3-window-unused", "a sliding_window that use_sliding_window false turns off", 127,
         config={"use_sliding_window": False, "sliding_window": 4, "max_window_layers": 0}),
    Spec("qwen3-layer-types", "layer_types says which layers have the window, whatever "
         "max_window_layers says", 128,
         config={"use_sliding_window": True, "sliding_window": 6, "max_window_layers": 3,
                 "num_hidden_layers": 3, **SMALL,
                 "layer_types": ["sliding_attention", "full_attention", "sliding_attention"]}),
]

TEXT = [
    Spec("qwen3-dimensions", "Matryoshka: cut to 1, 8 and all values, then normalized", 130,
         config=SMALL, encodes=[{}, *({"dimensions": n} for n in (1, 8, 24))]),
    Spec("qwen3-prompts", "prompts byte for byte: by name, an empty one, an instruction given ad "
         "hoc; cut with a prompt", 131, config=SMALL,
         encodes=[*PROMPT_ENCODES, {"prompt_name": "query", "dimensions": 8}]),
    Spec("qwen3-default-prompt", "default_prompt_name applies when nothing is asked for", 132,
         config=SMALL,
         st_config={"default_prompt_name": "query"}, encodes=[{}, {"prompt_name": "document"}]),
    Spec("qwen3-length-short", "truncation at 10 keeps the final <|endoftext|>", 133,
         config={"max_position_embeddings": 10}),
    Spec("qwen3-length-model-max", "model_max_length 24 below max_position_embeddings", 134,
         tokenizer_config={"model_max_length": 24}),
    Spec("qwen3-length-st", "sentence_bert_config.json: max_seq_length 300 and a text beyond it",
         135, max_seq_length=300, config={"max_position_embeddings": 1024}),
]

YARN = {"factor": 4.0, "original_max_position_embeddings": 40}
ROPE = [
    Spec("qwen3-rope-flat", "rope_theta at the top level, not the default", 141,
         config=rope(None, 300.0)),
    Spec("qwen3-rope-parameters", "rope_theta in rope_parameters only", 142,
         config={"rope_theta": ABSENT, "rope_scaling": ABSENT,
                 **rope_parameters({"rope_type": "default", "rope_theta": 300.0})}),
    Spec("qwen3-rope-theta-beside", "rope_parameters without rope_theta, which is at the top "
         "level", 143, config={"rope_scaling": ABSENT, "rope_theta": 300.0,
                               **rope_parameters({"rope_type": "linear", "factor": 3.0})}),
    Spec("qwen3-rope-theta-both", "rope_theta in both places: rope_parameters wins", 144,
         config={"rope_scaling": ABSENT, "rope_theta": 1000000.0,
                 **rope_parameters({"rope_type": "default", "rope_theta": 300.0})}),
    Spec("qwen3-rope-linear", "rope_scaling linear, spelled type", 145,
         config=rope({"type": "linear", "factor": 2.5})),
    Spec("qwen3-rope-dynamic", "rope_scaling dynamic: texts beyond max_position_embeddings, each "
         "by its own length", 146, max_seq_length=160,
         config=rope({"rope_type": "dynamic", "factor": 2.0}, max_position_embeddings=20)),
    Spec("qwen3-rope-dynamic-new", "dynamic in rope_parameters, within max_position_embeddings: "
         "no change", 147,
         config={"rope_scaling": ABSENT, "rope_theta": ABSENT, **rope_parameters(
             {"rope_type": "dynamic", "factor": 4.0, "rope_theta": 10000.0})}),
    Spec("qwen3-rope-yarn", "rope_scaling yarn, spelled type and rope_type, at every length", 148,
         config=rope({"type": "yarn", "rope_type": "yarn", **YARN})),
    Spec("qwen3-rope-yarn-new", "yarn in rope_parameters with an attention_factor", 149,
         config={"rope_scaling": ABSENT, "rope_theta": ABSENT, **rope_parameters(
             {"rope_type": "yarn", "rope_theta": 10000.0, "attention_factor": 0.8, **YARN})}),
    Spec("qwen3-rope-yarn-type", "yarn spelled type alone, beta_fast and beta_slow given, "
         "head_dim 32", 150,
         config=rope({"type": "yarn", "beta_fast": 4, "beta_slow": 0.5, **YARN},
                     **heads(4, 2, 32))),
    Spec("qwen3-rope-yarn-mscale", "yarn with mscale and mscale_all_dim", 151,
         config=rope({"rope_type": "yarn", "mscale": 1.5, "mscale_all_dim": 0.5, **YARN})),
    Spec("qwen3-rope-yarn-mscale-one", "yarn with mscale alone: it has no effect", 152,
         config=rope({"rope_type": "yarn", "mscale": 3.0, **YARN})),
    Spec("qwen3-rope-yarn-exact", "yarn with truncate false: bounds are not rounded", 153,
         config=rope({"rope_type": "yarn", "truncate": False, "beta_fast": 3, **YARN},
                     **heads(4, 2, 32))),
    Spec("qwen3-rope-yarn-original", "yarn without original_max_position_embeddings: it is "
         "max_position_embeddings", 154,
         config=rope({"rope_type": "yarn", "factor": 4.0, "beta_fast": 8}, theta=1000000.0)),
]

VARIANTS = SHAPES + FILES + ARITHMETIC + TEXT + ROPE
