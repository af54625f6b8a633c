"""Builds tiny random causal models of Qwen3.5 and Qwen3, with the files that real ones have.

Weights are drawn by seed and name, and scaled so that a fault shows in the logits: linear weights
by 1/sqrt(fan_in), norm weights +-0.3 around the value that changes nothing, A_log and dt_bias so
that the decays of the heads lie between 0.3 and 0.999.
"""

from __future__ import annotations

import dataclasses
import json
import zlib
from pathlib import Path

import numpy as np
import torch
import transformers

import tiny_tokenizers
from chat_template import CHAT_TEMPLATE
from common import write_if_changed, write_json
from decays import SLOW, decay_parameters
from qwen3_models import ABSENT, tokenizer_config
from tiny_models import STORED_TYPES, write_shards

TYPE_NAMES = {"F32": "float32", "F16": "float16", "BF16": "bfloat16"}
SHORT = (1, 5, 64, 65, 70, 130)
ALL = (1, 2, 3, 5, 17, 63, 64, 65, 70, 100, 128, 129, 300, 511, 1009, 1100)


@dataclasses.dataclass
class Spec:
    """One variant: what its files say. See generation_variants.py for the list."""

    name: str
    proves: str
    seed: int
    family: str = "qwen3_5"
    config: dict = dataclasses.field(default_factory=dict)  # over the defaults in text_config
    nested: bool = False  # text_config inside config.json, a vision_config beside it
    root: dict = dataclasses.field(default_factory=dict)  # over the root of a nested config.json
    prefix: str = "model."
    lm_head: bool = False
    visual: bool = False  # some tensors of a vision tower
    mtp: bool = False  # the tensors of a multi-token prediction head
    dtype: str = "BF16"
    shards: int = 1
    decays: tuple[float, float] = SLOW
    lengths: tuple[int, ...] = SHORT
    greedy: bool = False
    taps: tuple[int, ...] = (5,)  # lengths of the cases with intermediate values
    scored: int | None = None  # length of the case with likelihoods and pooled states
    template_file: bool = False  # chat_template.jinja instead of a key of tokenizer_config.json
    same_as: str | None = None  # another variant whose results it must have

    @property
    def marks(self) -> bool:
        return self.family == "qwen3_5"


def tokenizer_json(spec: Spec) -> str:
    return tiny_tokenizers.qwen_chat(spec.marks)


def token_id(spec: Spec, token: str) -> int:
    return tiny_tokenizers.token_id(tokenizer_json(spec), token)


def qwen3_5_config(spec: Spec) -> dict:
    """The keys of a released text_config."""
    return {
        "attention_bias": False,
        "attention_dropout": 0.0,
        "attn_output_gate": True,
        "dtype": TYPE_NAMES[spec.dtype],
        "eos_token_id": token_id(spec, "<|endoftext|>"),
        "full_attention_interval": 4,
        "head_dim": 16,
        "hidden_act": "silu",
        "hidden_size": 32,
        "initializer_range": 0.02,
        "intermediate_size": 40,
        "layer_types": ["linear_attention"] * 3 + ["full_attention"],
        "linear_conv_kernel_dim": 4,
        "linear_key_head_dim": 16,
        "linear_num_key_heads": 2,
        "linear_num_value_heads": 2,
        "linear_value_head_dim": 16,
        "mamba_ssm_dtype": "float32",
        "max_position_embeddings": 32768,
        "mlp_only_layers": [],
        "model_type": "qwen3_5_text",
        "mtp_num_hidden_layers": 1 if spec.mtp else 0,
        "mtp_use_dedicated_embeddings": False,
        "num_attention_heads": 4,
        "num_hidden_layers": 4,
        "num_key_value_heads": 2,
        "rms_norm_eps": 1e-6,
        "rope_parameters": {"mrope_interleaved": True, "mrope_section": [11, 11, 10],
                            "partial_rotary_factor": 0.25, "rope_theta": 10000000,
                            "rope_type": "default"},
        "tie_word_embeddings": not spec.lm_head,
        "use_cache": True,
        "vocab_size": tiny_tokenizers.vocab_size(tokenizer_json(spec)),
    }


def qwen3_config(spec: Spec) -> dict:
    """The keys of a released config.json of Qwen3."""
    return {
        "attention_bias": False, "attention_dropout": 0.0,
        "bos_token_id": token_id(spec, "<|endoftext|>"),
        "eos_token_id": token_id(spec, "<|im_end|>"), "head_dim": 16, "hidden_act": "silu",
        "hidden_size": 32, "initializer_range": 0.02, "intermediate_size": 40,
        "max_position_embeddings": 32768, "max_window_layers": 3, "model_type": "qwen3",
        "num_attention_heads": 4, "num_hidden_layers": 3, "num_key_value_heads": 2,
        "rms_norm_eps": 1e-6, "rope_scaling": None, "rope_theta": 1000000,
        "sliding_window": None, "tie_word_embeddings": not spec.lm_head,
        "torch_dtype": TYPE_NAMES[spec.dtype], "use_cache": True,
        "use_sliding_window": False,
        "vocab_size": tiny_tokenizers.vocab_size(tokenizer_json(spec)),
    }


def text_config(spec: Spec) -> dict:
    """The decoder's keys, wherever config.json has them."""
    base = qwen3_5_config if spec.family == "qwen3_5" else qwen3_config
    config = {**base(spec), **spec.config}
    return {key: config[key] for key in sorted(config) if config[key] is not ABSENT}


def config_json(spec: Spec) -> dict:
    text, version = text_config(spec), {"transformers_version": "4.57.0.dev0"}
    if not spec.nested:
        architecture = {"qwen3_5": "Qwen3_5ForCausalLM", "qwen3": "Qwen3ForCausalLM"}
        return {"architectures": [architecture[spec.family]], **text, **version}
    root = {
        "architectures": ["Qwen3_5ForConditionalGeneration"],
        "image_token_id": 3, "model_type": "qwen3_5", "text_config": text,
        "tie_word_embeddings": text.get("tie_word_embeddings", False), **version,
        "video_token_id": 4,
        "vision_config": {"deepstack_visual_indexes": [], "depth": 1, "hidden_act":
                          "gelu_pytorch_tanh", "hidden_size": 8, "in_channels": 3,
                          "initializer_range": 0.02, "intermediate_size": 8, "model_type":
                          "qwen3_5", "num_heads": 2, "num_position_embeddings": 16,
                          "out_hidden_size": text["hidden_size"], "patch_size": 2,
                          "spatial_merge_size": 2, "temporal_patch_size": 2},
        "vision_end_token_id": 2, "vision_start_token_id": 1, **spec.root}
    return {key: value for key, value in root.items() if value is not ABSENT}


def generator(spec: Spec, name: str) -> np.random.Generator:
    return np.random.Generator(np.random.PCG64([spec.seed, zlib.crc32(name.encode())]))


def draw(spec: Spec, name: str, shape: tuple[int, ...]) -> np.ndarray:
    """One parameter in float64, by the role that its name tells."""
    layer, _, leaf = name.rpartition(".")
    rng = generator(spec, name)
    if leaf in ("A_log", "dt_bias"):
        return decay_parameters(generator(spec, layer + "decay"), shape[0], spec.decays)[leaf]
    if "norm" in name:
        around_one = spec.family == "qwen3" or "linear_attn" in name
        return float(around_one) + 0.3 * rng.uniform(-1, 1, shape)
    if leaf == "bias":
        return 0.15 * rng.uniform(-1, 1, shape)
    if "embed_tokens" in name or "conv1d" in name:
        return 0.5 * rng.standard_normal(shape)
    return rng.standard_normal(shape) / np.sqrt(shape[-1])


def stored(spec: Spec, name: str, value: np.ndarray) -> np.ndarray:
    """In the type of the file: the decay and the gated norm are float32, as in released files."""
    exact = name.endswith("A_log") or name.endswith("linear_attn.norm.weight")
    return value.astype(np.float32).astype(STORED_TYPES["F32" if exact else spec.dtype])


def body_weights(spec: Spec) -> dict[str, np.ndarray]:
    """The parameters of the decoder, as stored, by the names that transformers gives them."""
    with torch.device("meta"):
        model = transformers.AutoModel.from_config(
            transformers.AutoConfig.for_model(**text_config(spec)))
    return {name: stored(spec, name, draw(spec, name, tuple(value.shape)))
            for name, value in model.named_parameters()}


def mtp_shapes(spec: Spec) -> dict[str, tuple[int, ...]]:
    """A multi-token prediction head: one full-attention block between a projection and a norm."""
    config = text_config(spec) | {"layer_types": ["full_attention"], "num_hidden_layers": 1}
    hidden = config["hidden_size"]
    with torch.device("meta"):
        model = transformers.AutoModel.from_config(transformers.AutoConfig.for_model(**config))
    block = {f"mtp.{name}": tuple(value.shape) for name, value in model.named_parameters()
             if name.startswith("layers.")}
    return {"mtp.fc.weight": (hidden, 2 * hidden), "mtp.norm.weight": (hidden,),
            "mtp.pre_fc_norm_embedding.weight": (hidden,),
            "mtp.pre_fc_norm_hidden.weight": (hidden,), **block}


def visual_shapes(spec: Spec) -> dict[str, tuple[int, ...]]:
    return {"model.visual.patch_embed.proj.weight": (8, 3, 2, 2, 2),
            "model.visual.patch_embed.proj.bias": (8,),
            "model.visual.blocks.0.attn.qkv.weight": (24, 8),
            "model.visual.merger.norm.weight": (8,)}


def file_tensors(spec: Spec) -> dict[str, np.ndarray]:
    """The tensors by the names in the file."""
    body = body_weights(spec)
    tensors = {spec.prefix + name: value for name, value in body.items()}
    more = {"lm_head.weight": body["embed_tokens.weight"].shape} if spec.lm_head else {}
    more |= mtp_shapes(spec) if spec.mtp else {}
    more |= visual_shapes(spec) if spec.visual else {}
    tensors |= {name: stored(spec, name, draw(spec, name, shape))
                for name, shape in more.items()}
    return tensors


def write_tokenizer(spec: Spec, directory: Path) -> None:
    config = tokenizer_config(lambda token: token_id(spec, token))
    config["model_max_length"] = 262144
    if spec.family == "qwen3_5" and not spec.nested:
        # Released (nested) files name Qwen2Tokenizer, although its words hold no marks.
        config["tokenizer_class"] = "TokenizersBackend"
    if spec.template_file:
        write_if_changed(directory / "chat_template.jinja", CHAT_TEMPLATE.encode())
    else:
        config["chat_template"] = CHAT_TEMPLATE
    write_json(directory / "tokenizer_config.json", config)
    text = json.dumps(json.loads(tokenizer_json(spec)), separators=(",", ":"))
    write_if_changed(directory / "tokenizer.json", (text + "\n").encode())


def build_directory(spec: Spec, directory: Path) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    write_json(directory / "config.json", config_json(spec))
    write_json(directory / "generation_config.json", {
        "bos_token_id": token_id(spec, "<|endoftext|>"), "do_sample": True,
        "eos_token_id": [token_id(spec, "<|im_end|>"), token_id(spec, "<|endoftext|>")],
        "pad_token_id": token_id(spec, "<|endoftext|>"), "temperature": 0.6, "top_k": 20,
        "top_p": 0.95, "transformers_version": "4.57.0.dev0"})
    write_shards(directory, file_tensors(spec), spec.shards)
    write_tokenizer(spec, directory)
